// Queues. Each has a thread, the runner, from its first command buffer on.

#include "queue.h"
#include "command_buffer.h"
#include "failure.h"
#include "fork.h"
#include "runtime.h"
#include "../exec/pool.h"

#include <pthread.h>
#include <softmetal.h>

#define FORKED_TEXT                                                                                                    \
    "the device was opened before this process was forked from its parent, and a forked child has none of the "        \
    "device's threads: open the device in the child only, or start the child with spawn"

// What a queue shares with its runner. The runner outlives the queue for a moment, then frees it.
struct runner {
    pthread_mutex_t      mutex; // of all below
    pthread_cond_t       work;  // the head may have been committed, or stopping
    pthread_cond_t       done;  // an entry is done
    struct queue_entry * head;
    struct queue_entry * tail;
    bool                 started;
    bool                 stopping;
    bool                 borrowed; // no thread could be started, and a caller's is running the queue
    pthread_t            thread;
};

static void free_runner(struct runner * runner) {
    pthread_cond_destroy(&runner->work);
    pthread_cond_destroy(&runner->done);
    pthread_mutex_destroy(&runner->mutex);
    free(runner);
}

static bool is_committed(struct queue_entry * entry) {
    return atomic_load(&entry->status) >= MTLCommandBufferStatusCommitted;
}

static void mark_done(struct runner * runner, struct queue_entry * entry) {
    pthread_mutex_lock(&runner->mutex);
    atomic_store(&entry->done, true);
    pthread_cond_broadcast(&runner->done);
    pthread_mutex_unlock(&runner->mutex);
}

// Takes the head off the queue, if it is committed.
static struct queue_entry * take_head(struct runner * runner) {
    struct queue_entry * entry = runner->head;

    if (!entry || !is_committed(entry)) {
        return NULL;
    }
    runner->head = entry->next;
    if (!runner->head) {
        runner->tail = NULL;
    }
    return entry;
}

static void run_entry(struct runner * runner, struct queue_entry * entry) {
    NSAutoreleasePool * pool   = [NSAutoreleasePool new];
    SMCommandBuffer *   buffer = entry->buffer;

    [buffer run];
    mark_done(runner, entry);
    [buffer release]; // the last reference to the queue may go with it
    [pool drain];
}

// The runner's thread.
static void * run(void * argument) {
    struct runner * runner = argument;

    pthread_mutex_lock(&runner->mutex);
    while (!runner->stopping) {
        struct queue_entry * entry = take_head(runner);

        if (!entry) {
            pthread_cond_wait(&runner->work, &runner->mutex);
            continue;
        }
        pthread_mutex_unlock(&runner->mutex);
        run_entry(runner, entry);
        pthread_mutex_lock(&runner->mutex);
    }
    pthread_mutex_unlock(&runner->mutex);
    sm_pool_leave();
    free_runner(runner);
    return NULL;
}

// Without a thread of its own, the queue runs on that of whoever commits.
static void run_on_this_thread(struct runner * runner) {
    struct queue_entry * entry;

    pthread_mutex_lock(&runner->mutex);
    if (runner->borrowed) {
        pthread_mutex_unlock(&runner->mutex);
        return; // that thread will find what was committed here
    }
    runner->borrowed = true;
    while ((entry = take_head(runner))) {
        pthread_mutex_unlock(&runner->mutex);
        run_entry(runner, entry);
        pthread_mutex_lock(&runner->mutex);
    }
    runner->borrowed = false;
    pthread_mutex_unlock(&runner->mutex);
}

// All queues, for softmetal_abandon.
static pthread_mutex_t  queues_mutex = PTHREAD_MUTEX_INITIALIZER;
static SMCommandQueue * queues; // guarded by queues_mutex, which is locked before any runner's mutex

@implementation SMCommandQueue {
    struct runner *  _runner;
    unsigned         _process;
    SMCommandQueue * _next_queue; // guarded by queues_mutex
}

+ (id) newInProcess:(unsigned) process {
    SMCommandQueue * queue = [self new];

    queue->_process = process;
    pthread_mutex_lock(&queues_mutex);
    queue->_next_queue = queues;
    queues             = queue;
    pthread_mutex_unlock(&queues_mutex);
    return queue;
}

- (id) init {
    _runner = objc_allocate(sizeof *_runner);
    pthread_mutex_init(&_runner->mutex, NULL);
    pthread_cond_init(&_runner->work, NULL);
    pthread_cond_init(&_runner->done, NULL);
    return self;
}

- (BOOL) isForked {
    return sm_is_forked_from(_process);
}

// No buffer is left when this is called: each of them retains the queue.
- (void) dealloc {
    pthread_mutex_lock(&queues_mutex);
    SMCommandQueue ** link = &queues;
    while (*link != self) {
        link = &(*link)->_next_queue;
    }
    *link = _next_queue;
    pthread_mutex_unlock(&queues_mutex);

    if (![self isForked]) {
        pthread_mutex_lock(&_runner->mutex);
        _runner->stopping  = true;
        const bool started = _runner->started;
        pthread_cond_signal(&_runner->work);
        pthread_mutex_unlock(&_runner->mutex);
        if (!started) {
            free_runner(_runner);
        }
    }
    [super dealloc];
}

- (id<MTLCommandBuffer>) commandBuffer {
    return [[SMCommandBuffer newWithQueue:self retainsReferences:YES] autorelease];
}

- (id<MTLCommandBuffer>) commandBufferWithUnretainedReferences {
    return [[SMCommandBuffer newWithQueue:self retainsReferences:NO] autorelease];
}

// ---- only under the runner's mutex

- (void) append:(struct queue_entry *) entry {
    if (atomic_load(&entry->status) != MTLCommandBufferStatusNotEnqueued) {
        return;
    }
    [entry->buffer retain];
    if (_runner->tail) {
        _runner->tail->next = entry;
    } else {
        _runner->head = entry;
    }
    _runner->tail = entry;
    atomic_store(&entry->status, MTLCommandBufferStatusEnqueued);
}

- (void) startRunner {
    if (_runner->started || _runner->borrowed) {
        return;
    }
    if (pthread_create(&_runner->thread, NULL, run, _runner) == 0) {
        pthread_detach(_runner->thread);
        _runner->started = true;
    }
}

// Takes the entries that nobody committed off the queue; returned as a list.
- (struct queue_entry *) takeUncommitted {
    struct queue_entry *  taken = NULL;
    struct queue_entry ** link  = &_runner->head;

    _runner->tail = NULL;
    while (*link) {
        struct queue_entry * entry = *link;

        if (is_committed(entry)) {
            _runner->tail = entry;
            link          = &entry->next;
        } else {
            // From here on a commit does nothing.
            atomic_store(&entry->status, MTLCommandBufferStatusCommitted);
            *link       = entry->next;
            entry->next = taken;
            taken       = entry;
        }
    }
    pthread_cond_signal(&_runner->work);
    return taken;
}

// ---- what command buffers call

- (void) enqueue:(struct queue_entry *) entry {
    if ([self isForked]) {
        return; // its commit will fail
    }
    pthread_mutex_lock(&_runner->mutex);
    [self append:entry];
    pthread_mutex_unlock(&_runner->mutex);
}

- (void) commit:(struct queue_entry *) entry {
    if ([self isForked]) {
        if (!is_committed(entry)) {
            [entry->buffer failWith:FORKED_TEXT];
            atomic_store(&entry->done, true);
        }
        return;
    }
    pthread_mutex_lock(&_runner->mutex);
    if (!is_committed(entry)) {
        [self append:entry];
        atomic_store(&entry->status, MTLCommandBufferStatusCommitted);
        [self startRunner];
        pthread_cond_signal(&_runner->work);
    }
    const bool started = _runner->started;
    pthread_mutex_unlock(&_runner->mutex);
    if (!started) {
        run_on_this_thread(_runner);
    }
}

- (void) wait:(struct queue_entry *) entry {
    if ([self isForked]) {
        if (!atomic_load(&entry->done)) {
            [entry->buffer failInForkedChildWith:FORKED_TEXT];
            atomic_store(&entry->done, true);
        }
        return;
    }
    pthread_mutex_lock(&_runner->mutex);
    // A handler that waits runs on the thread it would wait for.
    const bool by_runner = _runner->started && pthread_equal(_runner->thread, pthread_self());
    while (!atomic_load(&entry->done) && !by_runner) {
        pthread_cond_wait(&_runner->done, &_runner->mutex);
    }
    pthread_mutex_unlock(&_runner->mutex);
}

// Ends what takeUncommitted took. The number.
- (int) abandon:(struct queue_entry *) taken {
    int dropped = 0;

    while (taken) {
        struct queue_entry * entry  = taken;
        SMCommandBuffer *    buffer = entry->buffer;

        taken = entry->next;
        [buffer failWith:"the command buffer was enqueued, never committed, and abandoned"];
        mark_done(_runner, entry);
        dropped++;
        [buffer release]; // after the last one, this queue may be gone
    }
    return dropped;
}

+ (int) abandonAll {
    int              dropped = 0;
    SMCommandQueue * queue;

    // Ending a buffer calls handlers and may free a queue, so it is done with no lock held.
    do {
        struct queue_entry * taken = NULL;

        pthread_mutex_lock(&queues_mutex);
        for (queue = queues; queue; queue = queue->_next_queue) {
            if ([queue isForked]) {
                continue;
            }
            pthread_mutex_lock(&queue->_runner->mutex);
            taken = [queue takeUncommitted];
            pthread_mutex_unlock(&queue->_runner->mutex);
            if (taken) {
                break;
            }
        }
        pthread_mutex_unlock(&queues_mutex);
        dropped += [queue abandon:taken];
    } while (queue);
    return dropped;
}

@end

int softmetal_abandon(void) {
    return [SMCommandQueue abandonAll];
}
