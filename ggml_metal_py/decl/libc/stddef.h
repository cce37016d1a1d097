#pragma once
#define NULL ((void *) 0)
typedef unsigned long size_t;
typedef long ptrdiff_t;
