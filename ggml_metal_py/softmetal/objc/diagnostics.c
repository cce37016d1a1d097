// softmetal_missing_selectors: the runtime's view of a build that forgot something.

#include "runtime.h"

#include <softmetal.h>
#include <stdio.h>

struct list {
    char * text;
    size_t size;
    size_t length;
    int    count;
};

static void add(const char * selector, void * context) {
    struct list * list = context;

    list->count++;
    if (list->length < list->size) {
        list->length += (size_t) snprintf(list->text + list->length, list->size - list->length, "%s\n", selector);
    }
}

int softmetal_missing_selectors(char * text, size_t size) {
    struct list list = { .text = text, .size = size };

    if (size) {
        text[0] = 0;
    }
    objc_each_missing_selector(add, &list);
    return list.count;
}
