// The last failure's text.

#include "failure.h"

#include <pthread.h>
#include <softmetal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *          last; // guarded by mutex

void sm_failure_lock(void) {
    pthread_mutex_lock(&mutex);
}

void sm_failure_unlock(void) {
    pthread_mutex_unlock(&mutex);
}

void sm_failure_set(const char * text) {
    char * copy = strdup(text);

    sm_failure_lock();
    char * replaced = last;
    last = copy;
    sm_failure_unlock();
    free(replaced);
}

void sm_failure_report(const char * text, NSError ** error) {
    sm_failure_set(text);
    if (error) {
        *error = [NSError errorWithText:text];
    }
}

int softmetal_last_error(char * text, size_t size) {
    sm_failure_lock();
    const char * now    = last ? last : "";
    const int    length = (int) strlen(now);
    if (size) {
        snprintf(text, size, "%s", now);
    }
    sm_failure_unlock();
    return length;
}
