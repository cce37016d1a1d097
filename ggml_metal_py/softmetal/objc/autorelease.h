// The calling thread's stack of autoreleased objects (NSAutoreleasePool.m).
#pragma once

void autorelease_add(void * object);
