// The two Mach calls that hand out page-aligned memory to share with the device (device/memory.c).
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int       kern_return_t;
typedef uintptr_t vm_map_t;
typedef uintptr_t vm_address_t;
typedef size_t    vm_size_t;

enum { KERN_SUCCESS = 0, KERN_NO_SPACE = 3, KERN_INVALID_ARGUMENT = 4 };
enum { VM_FLAGS_FIXED = 0, VM_FLAGS_ANYWHERE = 1 };

static inline vm_map_t mach_task_self(void) {
    return 0;
}

// Zeroed pages, anywhere in this process. Callers pass the address of whatever pointer they have, hence void *.
kern_return_t vm_allocate(vm_map_t task, void * address, vm_size_t size, int flags);
kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size);

#ifdef __cplusplus
}
#endif
