// The only architecture-specific code of the executor: which stack are we on, and change to another one.
//
// A suspended stack is known by its stack pointer alone. On top of it lie the address to continue at and the
// registers that a compiler may keep to itself (the frame pointer); every other one is declared as clobbered, so
// the compiler saves what it needs and nothing more. Code that switches is compiled with -mno-red-zone on x86-64:
// the push below must not hit live data.
#pragma once

#include <stdint.h>

namespace softmetal {

#define SM_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)

// Not volatile: all calls within one function may be merged, as only the bits above the stack are used.
SM_INLINE uintptr_t stack_pointer() {
    uintptr_t sp;
    asm("movq %%rsp, %0" : "=r"(sp));
    return sp;
}

#if defined(__AVX512F__)
#define SM_CLOBBER_AVX512 \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
        "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define SM_CLOBBER_AVX512
#endif

// Suspends the current stack into *save and continues the suspended stack `to`.
SM_INLINE void switch_stack(void ** save, void * to) {
    asm volatile(
        "pushq %%rbp\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "movq %%rsp, (%0)\n\t"
        "movq %1, %%rsp\n\t"
        "popq %%rax\n\t"
        "jmpq *%%rax\n"
        "1:\n\t"
        "popq %%rbp"
        : "+D"(save), "+S"(to)
        :
        : "memory", "cc", "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
          "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
          "xmm15" SM_CLOBBER_AVX512);
}

// The same, where the suspended stack is the one in save[1], and very likely lies exactly DISTANCE bytes away.
// Guessing that, and only comparing with save[1], takes a load out of the chain from one switch to the next. The top
// of the stack after that one is fetched in advance: those of a large threadgroup do not fit into the first caches.
template<intptr_t DISTANCE> SM_INLINE void switch_to_neighbour(void ** save) {
    asm volatile(
        "pushq %%rbp\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "movq %%rsp, (%0)\n\t"
        "leaq %c1(%%rsp), %%rcx\n\t"
        "prefetcht0 %c1(%%rcx)\n\t"
        "prefetcht0 %c1+64(%%rcx)\n\t"
        "cmpq %%rcx, 8(%0)\n\t"
        "jne 2f\n\t"
        "movq %%rcx, %%rsp\n\t"
        "popq %%rax\n\t"
        "jmpq *%%rax\n"
        "2:\n\t"
        "movq 8(%0), %%rsp\n\t"
        "popq %%rax\n\t"
        "jmpq *%%rax\n"
        "1:\n\t"
        "popq %%rbp"
        : "+D"(save)
        : "i"(DISTANCE)
        : "memory", "cc", "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
          "xmm14", "xmm15" SM_CLOBBER_AVX512);
}

// Makes an unused stack look suspended at the start of `run`, which must never return.
SM_INLINE void * prepare_stack(void * top, void (*run)()) {
    void ** sp = (void **) ((uintptr_t) top & ~(uintptr_t) 15);
    *--sp = nullptr; // run sees the alignment that it would see after a call
    *--sp = (void *) run;
    return sp;
}

#elif defined(__aarch64__)

SM_INLINE uintptr_t stack_pointer() {
    uintptr_t sp;
    asm("mov %0, sp" : "=r"(sp));
    return sp;
}

SM_INLINE void switch_stack(void ** save, void * to) {
    register void ** save_register asm("x0") = save;
    register void * to_register asm("x1")    = to;
    asm volatile(
        "adr x2, 1f\n\t"
        "stp x2, x29, [sp, #-32]!\n\t"
        "str x19, [sp, #16]\n\t"
        "mov x3, sp\n\t"
        "str x3, [x0]\n\t"
        "mov sp, x1\n\t"
        "ldr x2, [sp]\n\t"
        "br x2\n"
        "1:\n\t"
        "ldr x19, [sp, #16]\n\t"
        "ldr x29, [sp, #8]\n\t"
        "add sp, sp, #32"
        : "+r"(save_register), "+r"(to_register)
        :
        : "memory", "cc", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
          "x17", "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4",
          "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",
          "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

template<intptr_t DISTANCE> SM_INLINE void switch_to_neighbour(void ** save) { switch_stack(save, save[1]); }

SM_INLINE void * prepare_stack(void * top, void (*run)()) {
    void ** sp = (void **) ((uintptr_t) top & ~(uintptr_t) 15) - 4;
    sp[0] = (void *) run; // run enters with sp 32 bytes below the top: never popped, as run never returns
    return sp;
}

#else
#error "softmetal's executor knows x86-64 and aarch64: add stack_pointer, switch_stack and prepare_stack here"
#endif

} // namespace softmetal
