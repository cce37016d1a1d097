#include "guard.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>

#include "ggml.h"

#if defined(__APPLE__)
// Apple's dispatch_apply knows no task context and lets no exception out: only this thread is guarded.
static thread_local void * task_context;
static void * get_task_context() { return task_context; }
static void set_task_context(void * context) { task_context = context; }
extern "C" void * objc_autoreleasePoolPush(void);
extern "C" void objc_autoreleasePoolPop(void * pool);
static void * push_pool() { return objc_autoreleasePoolPush(); }
static void pop_pool(void * pool) { objc_autoreleasePoolPop(pool); }
#else
// softmetal hands the context to the threads of a dispatch_apply and carries their exceptions back.
#include "softmetal.h"
static void * get_task_context() { return softmetal_task_context(); }
static void set_task_context(void * context) { softmetal_set_task_context(context); }
static void * push_pool() { return softmetal_autorelease_push(); }
static void pop_pool(void * pool) { softmetal_autorelease_pop(pool); }
#endif

namespace {

constexpr size_t max_log_messages = 4096;

std::atomic<int> events{0};
ggml_abort_callback_t previous_abort_callback;

// Plain arrays: a thread may end at any time, and nothing here may need a destructor.
thread_local gmpy::failure pending;
thread_local char error_text[4096];
thread_local bool collecting_errors;

struct log_message {
    int level;
    std::string text;
};

// Never freed: native threads may log while the process exits.
struct log_buffer {
    std::mutex mutex;
    std::deque<log_message> messages;
    uint64_t lost = 0;
};
log_buffer & logs() {
    static auto * buffer = new log_buffer;
    return *buffer;
}

size_t copy_text(char * to, size_t size, const char * from) {
    if (size == 0) {
        return 0;
    }
    const size_t n = std::min(std::strlen(from), size - 1);
    std::memcpy(to, from, n);
    to[n] = 0;
    return n;
}

void on_abort(const char * message) {
    if (get_task_context() != nullptr) {
        gmpy::failure error{GMPY_ABORT, {}};
        copy_text(error.message, sizeof(error.message), message);
        throw error;
    }
    if (previous_abort_callback != nullptr) {
        previous_abort_callback(message);
    } else {
        std::fprintf(stderr, "%s\n", message);
    }
}

void on_log(ggml_log_level level, const char * text, void *) {
    if (level == GGML_LOG_LEVEL_ERROR) {
        if (collecting_errors) {
            const size_t used = std::strlen(error_text);
            copy_text(error_text + used, sizeof(error_text) - used, text);
        } else if (get_task_context() == nullptr) {
            // No call of ours waits on this thread: another host is computing, and its user must see this now.
            std::fputs(text, stderr);
        }
    }
    log_buffer & buffer = logs();
    const std::lock_guard<std::mutex> lock(buffer.mutex);
    if (buffer.messages.size() == max_log_messages) {
        buffer.messages.pop_front();
        buffer.lost += 1;
        events -= 1;
    }
    buffer.messages.push_back({level, text});
    events += 1;
}

}  // namespace

namespace gmpy {

guard_scope::guard_scope() : outer(get_task_context()), pool(push_pool()) {
    set_task_context(this);
}

guard_scope::~guard_scope() {
    set_task_context(outer);
    pop_pool(pool);
}

bool guard_scope::active() {
    return get_task_context() != nullptr;
}

void guard_scope::report(gmpy_failure kind, const char * message) {
    copy_text(pending.message, sizeof(pending.message), message);
    if (pending.kind == GMPY_NO_FAILURE) {
        events += 1;
    }
    pending.kind = kind;
}

error_collector::error_collector() : outer(collecting_errors), start(outer ? std::strlen(error_text) : 0) {
    error_text[start] = 0;
    collecting_errors = true;
}

error_collector::~error_collector() {
    collecting_errors = outer;
}

const char * error_collector::text() const {
    return error_text + start;
}

failure missing_kernel(const char * name, const char * reason) {
    failure error{GMPY_MISSING_KERNEL, {}};
    std::snprintf(error.message, sizeof(error.message), "%s\n%s", name, reason);
    return error;
}

}  // namespace gmpy

void gmpy_install(void) {
    static std::once_flag once;
    std::call_once(once, [] {
        previous_abort_callback = ggml_set_abort_callback(on_abort);
        ggml_log_set(on_log, nullptr);
    });
}

const volatile int * gmpy_events(void) {
    static_assert(sizeof(events) == sizeof(int), "Python reads the counter as a plain int");
    return reinterpret_cast<const volatile int *>(&events);
}

int gmpy_take_failure(char * message, size_t size) {
    const gmpy_failure kind = pending.kind;
    if (kind != GMPY_NO_FAILURE) {
        pending.kind = GMPY_NO_FAILURE;
        events -= 1;
        copy_text(message, size, pending.message);
    }
    return kind;
}

bool gmpy_take_log(int * level, char * text, size_t size, uint64_t * lost) {
    log_buffer & buffer = logs();
    const std::lock_guard<std::mutex> lock(buffer.mutex);
    *lost = buffer.lost;
    buffer.lost = 0;
    if (buffer.messages.empty()) {
        return false;
    }
    *level = buffer.messages.front().level;
    copy_text(text, size, buffer.messages.front().text.c_str());
    buffer.messages.pop_front();
    events -= 1;
    return true;
}

void gmpy_collect_errors(void) {
    error_text[0] = 0;
    collecting_errors = true;
}

size_t gmpy_take_errors(char * text, size_t size) {
    collecting_errors = false;
    return copy_text(text, size, error_text);
}
