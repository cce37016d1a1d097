// Calling code that may raise from code that must go on.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Calls function(argument). 0, or -1 when an exception left it, whose text is stored.
int objc_try(void (*function)(void * argument), void * argument, char * text, size_t size);

#ifdef __cplusplus
}
#endif
