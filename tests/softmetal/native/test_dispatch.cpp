// The subset of Grand Central Dispatch, seen from C++.

#include <dispatch/dispatch.h>

#include "testing.h"

#include <Block.h>
#include <atomic>
#include <softmetal.h>
#include <stdexcept>
#include <thread>

static void apply_runs_every_iteration_once() {
    std::atomic<int> counts[100] = {};
    std::atomic<int> * const seen = counts;
    dispatch_apply(100, nullptr, ^(size_t i) {
        seen[i]++;
    });
    for (const auto & count : counts) {
        CHECK(count == 1);
    }
    dispatch_apply(0, nullptr, ^(size_t) {
        abort();
    });
}

static void apply_hands_the_task_context_on() {
    int                context = 0;
    std::atomic<int>   wrong{0};
    std::atomic<int> * const wrong_pointer = &wrong;
    void * const       expected = &context;
    softmetal_set_task_context(expected);
    dispatch_apply(8, nullptr, ^(size_t) {
        *wrong_pointer += softmetal_task_context() != expected;
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // so that a helper gets some
    });
    softmetal_set_task_context(nullptr);
    CHECK(wrong == 0);
}

static void apply_rethrows_after_all_threads_ended() {
    for (int round = 0; round < 50; round++) {
        std::atomic<int>   running{0};
        std::atomic<int> * const running_pointer = &running;
        bool               caught = false;
        try {
            dispatch_apply(8, nullptr, ^(size_t i) {
                (*running_pointer)++;
                if (i == size_t(round % 8)) {
                    (*running_pointer)--;
                    throw std::runtime_error("from iteration");
                }
                std::this_thread::yield();
                (*running_pointer)--;
            });
        } catch (const std::runtime_error & error) {
            caught = strcmp(error.what(), "from iteration") == 0;
        }
        CHECK(caught && running == 0);
    }
}

static void semaphores_count() {
    dispatch_semaphore_t semaphore = dispatch_semaphore_create(1);
    CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW) == 0);
    CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW) != 0);
    std::thread other([semaphore] { dispatch_semaphore_signal(semaphore); });
    CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER) == 0);
    dispatch_release(semaphore); // maybe before the signaller is through
    other.join();
}

static void groups_wait_for_their_work() {
    dispatch_group_t   group = dispatch_group_create();
    std::atomic<int>   ended{0};
    std::atomic<int> * const pointer = &ended;
    CHECK(dispatch_group_wait(group, DISPATCH_TIME_NOW) == 0);
    for (int i = 0; i < 4; i++) {
        dispatch_group_async(group, dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0), ^{
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            (*pointer)++;
        });
    }
    CHECK(dispatch_group_wait(group, DISPATCH_TIME_FOREVER) == 0);
    CHECK(ended == 4);
    dispatch_release(group);
}

static void an_exception_in_a_group_ends_nothing_but_its_block() {
    dispatch_group_t group = dispatch_group_create();
    dispatch_group_async(group, nullptr, ^{
        throw std::runtime_error("expected by this test");
    });
    CHECK(dispatch_group_wait(group, DISPATCH_TIME_FOREVER) == 0);
    dispatch_release(group);
}

static void queues_can_be_made_and_released() {
    dispatch_queue_t queue = dispatch_queue_create("test", DISPATCH_QUEUE_CONCURRENT);
    dispatch_retain(queue);
    dispatch_release(queue);
    dispatch_release(queue);
}

int main() {
    RUN(apply_runs_every_iteration_once);
    RUN(apply_hands_the_task_context_on);
    RUN(apply_rethrows_after_all_threads_ended);
    RUN(semaphores_count);
    RUN(groups_wait_for_their_work);
    RUN(an_exception_in_a_group_ends_nothing_but_its_block);
    RUN(queues_can_be_made_and_released);
    return 0;
}
