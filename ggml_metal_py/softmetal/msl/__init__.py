"""The compiler service: from MSL source to a kernel library (a shared object that softmetal loads).

    key         names a source together with its macros
    preprocess  runs the C preprocessor, as MSL is C++ underneath
    tokens      cuts the result into tokens, keeping every line where it was
    program     finds kernels, host names, parameters and function constants
    lockstep    makes the order within a simdgroup explicit where kernels count on it
    translate   turns the tokens into C++ for include/metal_stdlib
    ir          gives integer division the GPU's meaning, in the compiler's own output
    instrument  for checked mode: a call before each access to memory
    compile     compiler runs, in parallel, and the link with exec/
    shelf       what builds of a source's other kernels can use
    objects     compiled units that a later build finds again
    store       where results lie, and how they come there whole
    cache       results that were made on demand: shared by processes, bounded
    version     names what made them
    locks       between processes
    scratch     files on the way, which go even when the process is killed
    __main__    the command line that softmetal's device runs

Knows the executor's ABI (exec/abi.h) and the toolchain, nothing of ggml.
"""
