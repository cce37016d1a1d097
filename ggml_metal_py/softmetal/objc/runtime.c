// Selectors, classes and method tables. The structures are Apple's (non-fragile ABI), as clang emits them.

#include "runtime.h"

#include <stdlib.h>
#include <string.h>

struct method {
    SEL          selector;
    const char * types;
    IMP          implementation;
};

struct method_list {
    uint32_t      entry_size;
    uint32_t      count;
    struct method methods[];
};

struct class_data { // class_ro_t
    uint32_t             flags;
    uint32_t             instance_start;
    uint32_t             instance_size;
    uint32_t             reserved;
    const void *         ivar_layout;
    const char *         name;
    struct method_list * methods;
    const void *         protocols;
    const void *         ivars;
    const void *         weak_ivar_layout;
    const void *         properties;
};

// An open-addressing hash table. send.S reads it: keep the layout and slot_of() in step with that file.
struct method_table {
    uint32_t mask; // slots - 1
    uint32_t used;
    struct {
        SEL selector;
        IMP implementation;
    } slots[];
};

struct objc_class {
    struct objc_class *   isa; // for a class: its metaclass
    struct objc_class *   superclass;
    struct method_table * methods; // Apple's method cache; ours holds every method from the start
    void *                unused;
    struct class_data *   data;
};

struct category {
    const char *         name;
    Class                cls;
    struct method_list * instance_methods;
    struct method_list * class_methods;
};

// The linker collects what clang emitted in every object file between these. When it also collects garbage
// (--gc-sections) it must be told to keep such sections, with --no-gc-sections or -z nostart-stop-gc; else these
// symbols are reported as undefined.
#define SECTION_BOUNDS(type, section)                                                                                  \
    extern type __start_##section[] __attribute__((visibility("hidden")));                                             \
    extern type __stop_##section[] __attribute__((visibility("hidden")))

SECTION_BOUNDS(SEL, objc_selrefs);
SECTION_BOUNDS(Class, objc_classlist);
SECTION_BOUNDS(struct category *, objc_catlist);
#pragma weak __start_objc_catlist // there may be no category
#pragma weak __stop_objc_catlist

// clang initialises every class's table pointer with the address of this one: "not built yet".
__attribute__((visibility("hidden"))) struct { long unused[2]; } _objc_empty_cache;
__attribute__((visibility("hidden"))) void * _objc_empty_vtable;

// ---- selectors: equal names become one address

static SEL *    selectors; // open addressing, by name
static uint32_t n_selectors;
static uint32_t selector_capacity;

static uint32_t hash_name(const char * name) {
    uint32_t hash = 5381;
    for (; *name; name++) {
        hash = hash * 33 ^ (uint8_t) *name;
    }
    return hash;
}

static SEL intern_selector(SEL name);

static void grow_selectors(void) {
    const uint32_t old_capacity = selector_capacity;
    SEL *          old          = selectors;

    selector_capacity = old_capacity ? 2 * old_capacity : 1024;
    selectors         = objc_allocate(selector_capacity * sizeof *selectors);
    n_selectors       = 0;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i]) {
            intern_selector(old[i]);
        }
    }
    free(old);
}

// Only while the library is being loaded: takes no lock.
static SEL intern_selector(SEL name) {
    if (2 * n_selectors >= selector_capacity) {
        grow_selectors();
    }
    uint32_t i = hash_name(name) & (selector_capacity - 1);
    while (selectors[i] && strcmp(selectors[i], name) != 0) {
        i = (i + 1) & (selector_capacity - 1);
    }
    if (!selectors[i]) {
        selectors[i] = name;
        n_selectors++;
    }
    return selectors[i];
}

// ---- method tables

static uint32_t slot_of(const struct method_table * table, SEL selector) {
    return ((uint32_t) (uintptr_t) selector >> 3) & table->mask;
}

static struct method_table * new_table(uint32_t slots) {
    struct method_table * table = objc_allocate(sizeof *table + slots * sizeof table->slots[0]);

    table->mask = slots - 1;
    return table;
}

static void put_method(struct method_table * table, SEL selector, IMP implementation) {
    uint32_t i = slot_of(table, selector);
    while (table->slots[i].selector && table->slots[i].selector != selector) {
        i = (i + 1) & table->mask;
    }
    if (!table->slots[i].selector) {
        table->slots[i].selector = selector;
        table->used++;
    }
    table->slots[i].implementation = implementation;
}

static void put_table(struct method_table * table, const struct method_table * from) {
    for (uint32_t i = 0; i <= from->mask; i++) {
        if (from->slots[i].selector) {
            put_method(table, from->slots[i].selector, from->slots[i].implementation);
        }
    }
}

static void add_methods(Class cls, struct method_list * list) {
    if (!list) {
        return;
    }
    // A table stays at most half full, so that misses are short and a free slot always ends the search.
    const uint32_t needed = 2 * (cls->methods->used + list->count);
    if (needed > cls->methods->mask) {
        uint32_t slots = cls->methods->mask + 1;
        while (needed > slots - 1) {
            slots *= 2;
        }
        struct method_table * grown = new_table(slots);

        put_table(grown, cls->methods);
        free(cls->methods);
        cls->methods = grown;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        struct method * method = &list->methods[i];

        method->selector = intern_selector(method->selector);
        put_method(cls->methods, method->selector, method->implementation);
    }
}

static void build_class(Class cls) {
    if (!cls || (void *) cls->methods != (void *) &_objc_empty_cache) {
        return;
    }
    build_class(cls->superclass);
    if (cls->superclass) {
        cls->methods = new_table(cls->superclass->methods->mask + 1);
        put_table(cls->methods, cls->superclass->methods);
    } else {
        cls->methods = new_table(64);
    }
    add_methods(cls, cls->data->methods);
    // Before any subclass copies the table.
    for (struct category ** category = __start_objc_catlist; category < __stop_objc_catlist; category++) {
        if ((*category)->cls == cls) {
            add_methods(cls, (*category)->instance_methods);
        } else if ((*category)->cls->isa == cls) {
            add_methods(cls, (*category)->class_methods);
        }
    }
}

// Before any other constructor of the library, because those may send messages.
__attribute__((constructor(101))) static void load_classes(void) {
    for (SEL * ref = __start_objc_selrefs; ref < __stop_objc_selrefs; ref++) {
        *ref = intern_selector(*ref);
    }
    for (Class * cls = __start_objc_classlist; cls < __stop_objc_classlist; cls++) {
        build_class(*cls);
        build_class((*cls)->isa);
    }
}

// ---- look-up

IMP objc_find_method(Class cls, SEL selector) {
    const struct method_table * table = cls->methods;

    for (uint32_t i = slot_of(table, selector); table->slots[i].selector; i = (i + 1) & table->mask) {
        if (table->slots[i].selector == selector) {
            return table->slots[i].implementation;
        }
    }
    return NULL;
}

struct super_receiver {
    id    receiver;
    Class cls; // the class whose method sends to super
};

// Called by send.S, and by the code of for (... in ...).
__attribute__((visibility("hidden"))) IMP  objc_resolve(Class * receiver, SEL selector);
__attribute__((visibility("hidden"))) IMP  objc_resolve_super(const struct super_receiver * super, SEL selector);
__attribute__((visibility("hidden"))) void objc_enumerationMutation(id collection);

static IMP find_or_raise(Class cls, SEL selector) {
    IMP method = objc_find_method(cls, selector);

    if (!method) {
        objc_raise("%s does not respond to the selector %s", cls->data->name, selector);
    }
    return method;
}

IMP objc_resolve(Class * receiver, SEL selector) {
    return find_or_raise(*receiver, selector);
}

IMP objc_resolve_super(const struct super_receiver * super, SEL selector) {
    return find_or_raise(super->cls->superclass, selector);
}

void objc_each_missing_selector(void (*visit)(const char *, void *), void * context) {
    for (SEL * ref = __start_objc_selrefs; ref < __stop_objc_selrefs; ref++) {
        int implemented = 0;

        for (Class * cls = __start_objc_classlist; cls < __stop_objc_classlist && !implemented; cls++) {
            implemented = objc_find_method(*cls, *ref) || objc_find_method((*cls)->isa, *ref);
        }
        if (!implemented) {
            visit(*ref, context);
        }
    }
}

const char * objc_class_name(Class cls) {
    return cls->data->name;
}

Class objc_class_superclass(Class cls) {
    return cls->superclass;
}

size_t objc_class_instance_size(Class cls) {
    return cls->data->instance_size;
}

// The collection changed while it was enumerated.
void objc_enumerationMutation(id collection) {
    objc_raise("collection %p was changed while it was enumerated", (void *) collection);
}
