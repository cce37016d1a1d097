// objc_msgSend and objc_msgSendSuper2: find the method, then jump to it with the arguments untouched.
// The only assembly of the main library, once for each architecture.
//
// Fast path: the first slot of the receiver's method table. Else every argument register is saved around a call
// of objc_resolve (runtime.c), which may throw; hence the unwind information.
//
// struct objc_class: the method table's address is at 16. struct method_table: mask at 0, slots of
// { selector, implementation } from 8. A selector's first slot is (selector >> 3) & mask.

    .text

#if defined(__x86_64__)

    .macro function name
    .globl \name
    .hidden \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    .endm

    .macro end name
    .cfi_endproc
    .size \name, . - \name
    .endm

    // %r11 = resolver(%rdi, %rsi). %al counts the vector registers of a variadic call, so it is an argument too.
    .macro resolve resolver
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $192, %rsp
    movq %rdi, (%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movaps %xmm0, 64(%rsp)
    movaps %xmm1, 80(%rsp)
    movaps %xmm2, 96(%rsp)
    movaps %xmm3, 112(%rsp)
    movaps %xmm4, 128(%rsp)
    movaps %xmm5, 144(%rsp)
    movaps %xmm6, 160(%rsp)
    movaps %xmm7, 176(%rsp)
    callq \resolver
    movq %rax, %r11
    movq (%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    movaps 64(%rsp), %xmm0
    movaps 80(%rsp), %xmm1
    movaps 96(%rsp), %xmm2
    movaps 112(%rsp), %xmm3
    movaps 128(%rsp), %xmm4
    movaps 144(%rsp), %xmm5
    movaps 160(%rsp), %xmm6
    movaps 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    .endm

function objc_msgSend
    testq %rdi, %rdi
    je 1f
    movq (%rdi), %r10
    movq 16(%r10), %r10
    movl %esi, %r11d
    shrl $3, %r11d
    andl (%r10), %r11d
    shlq $4, %r11
    cmpq %rsi, 8(%r10, %r11)
    jne 2f
    jmpq *16(%r10, %r11)
1:  // a message to nil answers zero
    xorl %eax, %eax
    xorl %edx, %edx
    xorps %xmm0, %xmm0
    xorps %xmm1, %xmm1
    retq
2:
    resolve objc_resolve
    jmpq *%r11
end objc_msgSend

// %rdi: struct super_receiver, whose first member is the object.
function objc_msgSendSuper2
    resolve objc_resolve_super
    movq (%rdi), %rdi
    jmpq *%r11
end objc_msgSendSuper2

#elif defined(__aarch64__)

    .macro function name
    .globl \name
    .hidden \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
    .endm

    .macro end name
    .cfi_endproc
    .size \name, . - \name
    .endm

    // x16 = resolver(x0, x1). x8 is where a large result goes, so it is an argument too.
    .macro resolve resolver
    stp x29, x30, [sp, #-224]!
    .cfi_def_cfa_offset 224
    .cfi_offset w29, -224
    .cfi_offset w30, -216
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x8, [sp, #80]
    stp q0, q1, [sp, #96]
    stp q2, q3, [sp, #128]
    stp q4, q5, [sp, #160]
    stp q6, q7, [sp, #192]
    bl \resolver
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x8, [sp, #80]
    ldp q0, q1, [sp, #96]
    ldp q2, q3, [sp, #128]
    ldp q4, q5, [sp, #160]
    ldp q6, q7, [sp, #192]
    ldp x29, x30, [sp], #224
    .cfi_def_cfa_offset 0
    .cfi_restore w29
    .cfi_restore w30
    .endm

function objc_msgSend
    cbz x0, 1f
    ldr x9, [x0]
    ldr x9, [x9, #16]
    ldr w10, [x9]
    and w10, w10, w1, lsr #3
    add x10, x9, x10, lsl #4
    ldp x11, x16, [x10, #8]
    cmp x11, x1
    b.ne 2f
    br x16
1:  // a message to nil answers zero
    mov x1, xzr
    movi d0, #0
    movi d1, #0
    ret
2:
    resolve objc_resolve
    br x16
end objc_msgSend

// x0: struct super_receiver, whose first member is the object.
function objc_msgSendSuper2
    resolve objc_resolve_super
    ldr x0, [x0]
    br x16
end objc_msgSendSuper2

#else
#error "softmetal sends messages on x86-64 and aarch64 only"
#endif

    .section .note.GNU-stack, "", %progbits
