// Character sets: a list of characters as UTF-8.

#import <Foundation/Foundation.h>

#include "NSCharacterSet.h"

#include <pthread.h>

static const char * const whitespace[] = {
    " ",      "\t",     "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005",
    "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u202f", "\u205f", "\u3000", NULL,
};

static NSCharacterSet * whitespace_set;

@implementation NSCharacterSet {
    const char * const * _characters;
}

static void make_sets(void) {
    whitespace_set              = [NSCharacterSet new];
    whitespace_set->_characters = whitespace;
}

+ (NSCharacterSet *) whitespaceCharacterSet {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_sets);
    return whitespace_set;
}

- (NSUInteger) lengthOfMembersAtStartOf:(const char *) text length:(NSUInteger) length {
    NSUInteger          members = 0;
    const char * const * c      = _characters;

    while (*c) {
        const NSUInteger size = strlen(*c);

        if (size <= length - members && memcmp(text + members, *c, size) == 0) {
            members += size;
            c = _characters;
        } else {
            c++;
        }
    }
    return members;
}

- (NSUInteger) lengthOfMembersAtEndOf:(const char *) text length:(NSUInteger) length {
    NSUInteger          members = 0;
    const char * const * c      = _characters;

    while (*c) {
        const NSUInteger size = strlen(*c);

        if (size <= length - members && memcmp(text + length - members - size, *c, size) == 0) {
            members += size;
            c = _characters;
        } else {
            c++;
        }
    }
    return members;
}

@end
