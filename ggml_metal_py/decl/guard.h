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

// The abort that ended this thread's last guarded call, cut to `size`; false when there was none.
bool gmpy_take_abort(char * message, size_t size);

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
struct abort_error {
    char message[2048];
};

// Arms the guard for this thread, and for threads that work on its behalf, while it lives. Holds an
// autorelease pool, because a Python thread has none and upstream autoreleases outside its own pools.
class guard_scope {
  public:
    guard_scope();
    ~guard_scope();
    guard_scope(const guard_scope &) = delete;
    guard_scope & operator=(const guard_scope &) = delete;

    static void report(const char * message);

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
    } catch (const abort_error & error) {
        guard_scope::report(error.message);
    } catch (const std::exception & error) {
        // Upstream's C++ files use the standard library; bad_alloc and the like must not end the process.
        guard_scope::report(error.what());
    }
    return Result();
}

}  // namespace gmpy
#endif
