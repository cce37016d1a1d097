// dispatch_apply: a loop whose iterations several threads share, and the task context they inherit.

#include <dispatch/dispatch.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <softmetal.h>
#include <thread>
#include <vector>

namespace {

thread_local void * task_context;

class Loop {
  public:
    Loop(size_t iterations, void (^block)(size_t)) : iterations_(iterations), block_(block) {}

    // What every participating thread does: take iterations until there are none, or one threw.
    void run() {
        size_t i;
        while (!failed_.load(std::memory_order_relaxed) && (i = next_.fetch_add(1)) < iterations_) {
            // An exception skips the block's own pools; draining this one takes them along.
            void * pool = softmetal_autorelease_push();
            try {
                block_(i);
            } catch (...) {
                keep(std::current_exception());
            }
            softmetal_autorelease_pop(pool);
        }
    }

    // Only after all threads ended.
    void rethrow() const {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

  private:
    void keep(std::exception_ptr failure) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!failure_) {
            failure_ = std::move(failure);
        }
        failed_ = true;
    }

    const size_t        iterations_;
    void                (^const block_)(size_t);
    std::atomic<size_t> next_{0};
    std::atomic<bool>   failed_{false};
    std::mutex          mutex_;
    std::exception_ptr  failure_;
};

} // namespace

void dispatch_apply(size_t iterations, dispatch_queue_t queue, void (^block)(size_t)) {
    (void) queue;
    Loop         loop(iterations, block);
    void * const context = task_context;
    const size_t cpus    = std::max(2u, std::thread::hardware_concurrency());
    const size_t threads = std::min(iterations, cpus);

    std::vector<std::thread> helpers;
    helpers.reserve(threads);
    try {
        for (size_t i = 1; i < threads; i++) {
            helpers.emplace_back([&loop, context] {
                task_context = context;
                loop.run();
            });
        }
    } catch (const std::system_error &) {
        // No more threads: those that started, and this one, do it all.
    }
    loop.run();
    for (std::thread & helper : helpers) {
        helper.join();
    }
    loop.rethrow();
}

void * softmetal_task_context(void) {
    return task_context;
}

void softmetal_set_task_context(void * context) {
    task_context = context;
}
