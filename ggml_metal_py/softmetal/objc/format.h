// printf's formatting, with %@ for an object's description.
#pragma once

#include <stdarg.h>

// To be freed by the caller. A conversion that C does not know stays as it is.
char * objc_format(const char * format, va_list arguments);
