// The boundary between Python and ggml: aborts become messages, log lines wait until Python asks.
//
// ggml ends a failed GGML_ASSERT with abort(). Inside a guarded call (table.cpp makes one of every bound
// function) our abort callback throws a C++ exception instead, which the guard catches: the call returns
// zeros and the message waits for the thread that made it. No Python code ever runs on a native thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Takes over ggml's abort and log callbacks, once per process. Aborts outside guarded calls go to the
// callback that was installed before, else to stderr, and end the process as upstream means them to.
void gmpy_install(void);

// Address of the number of aborts and log lines that wait: one load tells Python to look further.
const volatile int * gmpy_events(void);

enum gmpy_failure {
    GMPY_NO_FAILURE,
    GMPY_ABORT,
    // The message is the kernel's name, and after a line break the reason.
    GMPY_MISSING_KERNEL,
};

// What ended this thread's last guarded call, an enum gmpy_failure; its message is cut to `size`.
int gmpy_take_failure(char * message, size_t size);

// Oldest waiting log message, as ggml logged it (it may be part of a line); false when there is none.
// `lost` is the number of older messages that were dropped because nobody asked in time.
bool gmpy_take_log(int * level, char * text, size_t size, uint64_t * lost);

// Error messages that ggml logs on this thread from now on are also kept aside for the next exception.
void gmpy_collect_errors(void);
// Stops that; writes what came, cut to `size`, and returns its length.
size_t gmpy_take_errors(char * text, size_t size);

#ifdef __cplusplus
}

#include <exception>

namespace gmpy {

// Thrown through upstream's C, Objective-C and C++ frames, all compiled with -fexceptions.
struct failure {
    gmpy_failure kind;
    char message[2048];
};

// Keeps what ggml logs as errors on this thread while it lives; it may run inside gmpy_collect_errors().
class error_collector {
  public:
    error_collector();
    ~error_collector();
    error_collector(const error_collector &) = delete;
    error_collector & operator=(const error_collector &) = delete;

    const char * text() const;

  private:
    bool outer;
    size_t start;
};

failure missing_kernel(const char * name, const char * reason);

// Arms the guard for this thread, and for threads that work on its behalf, while it lives. Holds an
// autorelease pool, because a Python thread has none and upstream autoreleases outside its own pools.
class guard_scope {
  public:
    guard_scope();
    ~guard_scope();
    guard_scope(const guard_scope &) = delete;
    guard_scope & operator=(const guard_scope &) = delete;

    static bool active();
    static void report(gmpy_failure kind, const char * message);

  private:
    void * outer;
    void * pool;
};

// Calls `call`; what it returns, or zeros after an abort.
template <typename Call> auto guarded(Call call) -> decltype(call()) {
    using Result = decltype(call());
    const guard_scope scope;
    try {
        return call();
    } catch (const failure & error) {
        guard_scope::report(error.kind, error.message);
    } catch (const std::exception & error) {
        // Upstream's C++ files use the standard library; bad_alloc and the like must not end the process.
        guard_scope::report(GMPY_ABORT, error.what());
    }
    return Result();
}

}  // namespace gmpy
#endif
