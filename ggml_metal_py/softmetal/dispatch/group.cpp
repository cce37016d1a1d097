// Groups: work on threads of its own, and waiting for all of it.

#include "object.h"
#include "../objc/raise.h"

#include <Block.h>
#include <cstdio>
#include <softmetal.h>
#include <thread>

namespace {

void run_block(void * block) {
    ((dispatch_block_t) block)();
}

// Takes over the caller's reference to the group and to the block.
void run(dispatch_group_t group, dispatch_block_t block) {
    void * pool = softmetal_autorelease_push();
    char   text[256];
    // Nobody waits here to whom an exception could be handed on.
    if (objc_try(run_block, (void *) block, text, sizeof text) != 0) {
        fprintf(stderr, "softmetal: exception in dispatch_group_async: %s\n", text);
    }
    softmetal_autorelease_pop(pool);
    Block_release(block);
    {
        std::lock_guard<std::mutex> lock(group->mutex);
        group->value--;
    }
    group->changed.notify_all();
    dispatch_release(group);
}

} // namespace

dispatch_group_t dispatch_group_create(void) {
    return new dispatch_object_s(0);
}

void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block) {
    (void) queue;
    dispatch_retain(group);
    {
        std::lock_guard<std::mutex> lock(group->mutex);
        group->value++;
    }
    dispatch_block_t copy = Block_copy(block);
    try {
        std::thread(run, group, copy).detach();
    } catch (const std::system_error &) {
        run(group, copy); // no more threads: late is better than never
    }
}

intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout) {
    const auto all_ended = [](long value) { return value == 0; };
    return dispatch::wait(group, timeout, all_ended, [](long &) {}) ? 0 : -1;
}
