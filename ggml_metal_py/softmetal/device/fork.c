// Counts forks, and keeps the lock of failure.c usable across them.

#include "fork.h"
#include "failure.h"

#include <pthread.h>

static unsigned forks; // only ever changed in a child that has a single thread

static void in_child(void) {
    forks++;
    sm_failure_unlock();
}

static void watch_forks(void) {
    pthread_atfork(sm_failure_lock, sm_failure_unlock, in_child);
}

unsigned sm_process(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    return forks;
}
