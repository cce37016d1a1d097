// Puts the file EMBED_FILE into the library's constants, from the symbol EMBED_START to EMBED_END.
// Upstream's own embedding is written for Apple's assembler; this one serves both object formats.

#ifdef __APPLE__
#define SYMBOL_(name) _##name
#define HIDDEN .private_extern
.section __DATA,__ggml_metallib
#else
#define SYMBOL_(name) name
#define HIDDEN .hidden
.section .rodata.ggml_metallib, "a", %progbits
#endif
#define SYMBOL(name) SYMBOL_(name)

.globl SYMBOL(EMBED_START)
HIDDEN SYMBOL(EMBED_START)
SYMBOL(EMBED_START):
.incbin EMBED_FILE
.globl SYMBOL(EMBED_END)
HIDDEN SYMBOL(EMBED_END)
SYMBOL(EMBED_END):

#ifndef __APPLE__
.section .note.GNU-stack, "", %progbits
#endif
