// The Objective-C runtime behind clang's -fobjc-runtime=macosx output on ELF: what the parts of objc/ share.
//
// All classes and categories are known when the library is loaded. Their methods, inherited ones included, are
// then flattened into one hash table per class, so that sending a message later takes no lock.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __OBJC__
typedef struct objc_class *  Class;
typedef struct objc_object * id;
typedef const char *         SEL;
#endif
typedef void (*IMP)(void);

// The implementation an instance of cls has for a selector; NULL when there is none.
IMP objc_find_method(Class cls, SEL selector);

const char * objc_class_name(Class cls);
Class        objc_class_superclass(Class cls);
size_t       objc_class_instance_size(Class cls);

// Calls visit for every selector that this library's code sends and none of its classes implements.
void objc_each_missing_selector(void (*visit)(const char * selector, void * context), void * context);

// retain and release for code that is not Objective-C.
void objc_retain_object(const void * object);
void objc_release_object(const void * object);

// Zeroed memory; raises when there is none.
void * objc_allocate(size_t size);

// Throws std::runtime_error with the text. The counterpart of raising an NSException.
__attribute__((noreturn, format(printf, 1, 2))) void objc_raise(const char * format, ...);

#ifdef __cplusplus
}
#endif
