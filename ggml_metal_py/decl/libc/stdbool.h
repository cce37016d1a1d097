/* What pycparser needs of the C library: names of types. Never seen by the compiler. */
#pragma once
typedef _Bool bool;
#define true 1
#define false 0
