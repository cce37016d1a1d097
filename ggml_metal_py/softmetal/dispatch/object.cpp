// Queues and semaphores, and the life of all dispatch objects.

#include "object.h"

void dispatch_retain(dispatch_object_t object) {
    object->references.fetch_add(1, std::memory_order_relaxed);
}

void dispatch_release(dispatch_object_t object) {
    if (object->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete object;
    }
}

dispatch_queue_t dispatch_queue_create(const char * label, void * attributes) {
    (void) label, (void) attributes;
    return new dispatch_object_s(0);
}

dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags) {
    (void) identifier, (void) flags;
    // Callers neither retain nor release it.
    static dispatch_object_s * const queue = new dispatch_object_s(0);
    return queue;
}

dispatch_semaphore_t dispatch_semaphore_create(intptr_t value) {
    return new dispatch_object_s(value);
}

intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore) {
    // The waiter may release the semaphore as soon as the mutex is free; the notification still needs it.
    dispatch_retain(semaphore);
    {
        std::lock_guard<std::mutex> lock(semaphore->mutex);
        semaphore->value++;
    }
    semaphore->changed.notify_one();
    dispatch_release(semaphore);
    return 0;
}

intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout) {
    const auto signalled = [](long value) { return value > 0; };
    return dispatch::wait(semaphore, timeout, signalled, [](long & value) { value--; }) ? 0 : -1;
}
