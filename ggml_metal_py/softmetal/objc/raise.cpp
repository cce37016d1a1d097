// Raising and catching: the places where Objective-C and C code meets C++ exceptions.

#include "raise.h"
#include "runtime.h"

#include <cstdarg>
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
