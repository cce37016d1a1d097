// What queues, groups and semaphores have in common: a reference count, a value that threads wait for.
#pragma once

#include <dispatch/dispatch.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

struct dispatch_object_s {
    explicit dispatch_object_s(long value) : value(value) {}

    std::atomic<int>        references{1};
    std::mutex              mutex;
    std::condition_variable changed;
    long                    value; // group: pieces of work not ended; semaphore: signals not consumed
};

namespace dispatch {

// Waits until ready(object->value), then lets take(object->value) change it. False when the time passed first.
template <typename Ready, typename Take>
bool wait(dispatch_object_s * object, dispatch_time_t timeout, Ready ready, Take take) {
    std::unique_lock<std::mutex> lock(object->mutex);
    if (timeout == DISPATCH_TIME_FOREVER) {
        object->changed.wait(lock, [&] { return ready(object->value); });
    }
    if (!ready(object->value)) {
        return false;
    }
    take(object->value);
    return true;
}

} // namespace dispatch
