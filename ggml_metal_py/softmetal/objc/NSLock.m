// Locks: a mutex as an object.

#import <Foundation/Foundation.h>

#include <pthread.h>

@implementation NSLock {
    pthread_mutex_t _mutex;
}

- (id) init {
    pthread_mutex_init(&_mutex, NULL);
    return self;
}

- (void) dealloc {
    pthread_mutex_destroy(&_mutex);
    [super dealloc];
}

- (void) lock {
    pthread_mutex_lock(&_mutex);
}

- (void) unlock {
    pthread_mutex_unlock(&_mutex);
}

@end
