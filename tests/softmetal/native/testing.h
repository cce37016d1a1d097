// The little that our native test programs share. A program runs its tests in order, prints each one's name when
// it passed, and stops at the first failed CHECK.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s: CHECK(%s) failed\n", __FILE__, __LINE__, __func__, #condition);                \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define CHECK_TEXT(text, part)                                                                                         \
    do {                                                                                                               \
        const char * text_ = (text);                                                                                   \
        if (!text_ || !strstr(text_, (part))) {                                                                        \
            fprintf(stderr, "%s:%d: %s: \"%s\" does not contain \"%s\"\n", __FILE__, __LINE__, __func__,               \
                    text_ ? text_ : "(null)", (part));                                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define RUN(test)                                                                                                      \
    do {                                                                                                               \
        test();                                                                                                        \
        printf("%s\n", #test);                                                                                         \
        fflush(stdout);                                                                                                \
    } while (0)
