// Events.

#include "event.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

@implementation SMEvent {
    pthread_mutex_t _mutex;
    pthread_cond_t  _changed;
    uint64_t        _value; // guarded by _mutex
}

- (id) init {
    pthread_condattr_t attributes;

    pthread_mutex_init(&_mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); // setting the clock must not end a wait
    pthread_cond_init(&_changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return self;
}

- (void) dealloc {
    pthread_cond_destroy(&_changed);
    pthread_mutex_destroy(&_mutex);
    [super dealloc];
}

- (uint64_t) signaledValue {
    pthread_mutex_lock(&_mutex);
    const uint64_t value = _value;
    pthread_mutex_unlock(&_mutex);
    return value;
}

- (void) setSignaledValue:(uint64_t) value {
    pthread_mutex_lock(&_mutex);
    _value = value;
    pthread_cond_broadcast(&_changed);
    pthread_mutex_unlock(&_mutex);
}

- (BOOL) waitUntilSignaledValue:(uint64_t) value timeoutMS:(uint64_t) milliseconds {
    enum { LONGEST_WAIT_S = 1 << 30 }; // keeps the sum below within time_t
    struct timespec end;
    const uint64_t  seconds = milliseconds / 1000 < LONGEST_WAIT_S ? milliseconds / 1000 : LONGEST_WAIT_S;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t) seconds;
    end.tv_nsec += (long) (milliseconds % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&_mutex);
    int status = 0;
    while (_value < value && status != ETIMEDOUT) {
        status = pthread_cond_timedwait(&_changed, &_mutex, &end);
    }
    const BOOL reached = _value >= value;
    pthread_mutex_unlock(&_mutex);
    return reached;
}

@end
