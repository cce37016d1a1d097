// Raising and catching: the places where Objective-C and C code meets C++ exceptions.

#include "raise.h"
#include "runtime.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>

void objc_raise(const char * format, ...) {
    char    text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    throw std::runtime_error(text);
}

void * objc_allocate(size_t size) {
    void * memory = calloc(1, size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

// What unwinding asks about an Objective-C frame, such as one with a __block variable to release. Without @catch
// such frames look like C++ ones.
extern "C" int __gxx_personality_v0(int, int, uint64_t, void *, void *);
extern "C" int __objc_personality_v0(int version, int actions, uint64_t cls, void * exception, void * context) {
    return __gxx_personality_v0(version, actions, cls, exception, context);
}

int objc_try(void (*function)(void *), void * argument, char * text, size_t size) {
    try {
        function(argument);
        return 0;
    } catch (const std::exception & error) {
        snprintf(text, size, "%s", error.what());
    } catch (...) {
        snprintf(text, size, "an exception of unknown type");
    }
    return -1;
}
