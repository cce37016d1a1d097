// The part of Grand Central Dispatch that a Metal host needs: apply, groups, semaphores (dispatch/).
//
// Queues are tokens: work handed to any queue runs on threads of its own. Of times only
// DISPATCH_TIME_NOW and DISPATCH_TIME_FOREVER exist.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dispatch_object_s * dispatch_object_t;
typedef struct dispatch_object_s * dispatch_queue_t;
typedef struct dispatch_object_s * dispatch_group_t;
typedef struct dispatch_object_s * dispatch_semaphore_t;

typedef void (^dispatch_block_t)(void);
typedef uint64_t dispatch_time_t;

#define DISPATCH_TIME_NOW         ((dispatch_time_t) 0)
#define DISPATCH_TIME_FOREVER     (~(dispatch_time_t) 0)
#define DISPATCH_QUEUE_SERIAL     NULL
#define DISPATCH_QUEUE_CONCURRENT ((void *) 1)

enum { QOS_CLASS_DEFAULT = 0x15, QOS_CLASS_USER_INITIATED = 0x19 };

void dispatch_retain(dispatch_object_t object);
void dispatch_release(dispatch_object_t object);

dispatch_queue_t dispatch_queue_create(const char * label, void * attributes);
dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);

// Calls block(0) ... block(iterations - 1), the caller's thread taking part, and returns when all ended.
// An exception that leaves the block ends the hand-out and is rethrown here.
void dispatch_apply(size_t iterations, dispatch_queue_t queue, void (^block)(size_t));

dispatch_group_t dispatch_group_create(void);
void             dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
// 0, or non-zero when the time passed before the group's work ended.
intptr_t         dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout);

dispatch_semaphore_t dispatch_semaphore_create(intptr_t value);
intptr_t             dispatch_semaphore_signal(dispatch_semaphore_t semaphore);
// 0, or non-zero when the time passed without a signal.
intptr_t             dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);

#ifdef __cplusplus
}
#endif
