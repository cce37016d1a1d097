// Pages from the kernel: cheap to zero, and not paid for until they are touched.

#include "memory.h"

#include <mach/mach.h>
#include <stdint.h>
#include <sys/mman.h>

void * sm_memory_map(size_t size) {
    if (size > SIZE_MAX - SM_MEMORY_SLACK) {
        return NULL;
    }
    void * memory = mmap(NULL, size + SM_MEMORY_SLACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void sm_memory_unmap(void * memory, size_t size) {
    munmap(memory, size + SM_MEMORY_SLACK);
}

kern_return_t vm_allocate(vm_map_t task, void * address, vm_size_t size, int flags) {
    (void) task;
    if (!(flags & VM_FLAGS_ANYWHERE)) {
        return KERN_INVALID_ARGUMENT;
    }
    void * memory = sm_memory_map(size);
    if (!memory) {
        return KERN_NO_SPACE;
    }
    *(void **) address = memory;
    return KERN_SUCCESS;
}

kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size) {
    (void) task;
    sm_memory_unmap((void *) address, size);
    return KERN_SUCCESS;
}
