// What went wrong last, for softmetal_last_error.
#pragma once

void sm_failure_set(const char * text);

// Held across a fork, so that the child does not inherit it locked by a thread it does not have.
void sm_failure_lock(void);
void sm_failure_unlock(void);

#ifdef __OBJC__
#import <Foundation/Foundation.h>

// Remembers the text and, when the caller wants to know, stores an error with it.
void sm_failure_report(const char * text, NSError ** error);
#endif
