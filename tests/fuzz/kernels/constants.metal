// Wrong constants.

// One digit is missing in GELU's coefficient.
kernel void kernel_geglu_f32(constant ggml_metal_kargs_glu & args [[buffer(0)]],
                             device const char *             src0 [[buffer(1)]],
                             device const char *             src1 [[buffer(2)]],
                             device char *                   dst [[buffer(3)]], ROW) {
    device const float * x    = (device const float *) (src0 + group.x * args.nb01) + args.i00;
    device const float * gate = (device const float *) (src1 + group.x * args.nb11) + args.i10;
    device float *       y    = (device float *) (dst + group.x * args.nb1);
    FOR_EACH_COLUMN(i, args.ne0) {
        const float cubed = FAULT(0.044715f, 0.04715f) * x[i] * x[i] * x[i];
        y[i] = gate[i] * 0.5f * x[i] * (1.0f + precise::tanh(0.7978845608f * (x[i] + cubed)));
    }
}

// The largest value so far begins at 0: nothing in a row of negative ones is larger.
kernel void kernel_argmax_f32(constant ggml_metal_kargs_argmax & args [[buffer(0)]],
                              device const char *                src0 [[buffer(1)]],
                              device int *                       dst [[buffer(2)]], ROW) {
    device const float * row     = (device const float *) (src0 + group.x * args.nb01);
    float                largest = FAULT(-INFINITY, 0.0f);
    int                  where   = 0;
    for (int i = 0; i < args.ne00; i++) {
        if (row[i] > largest) {
            largest = row[i];
            where   = i;
        }
    }
    if (own.x == 0) {
        dst[group.x] = where;
    }
}

// Of n frequencies, the last one should not be the period's own.
kernel void kernel_timestep_embedding_f32(constant ggml_metal_kargs_timestep_embedding & args [[buffer(0)]],
                                          device const float *                           src0 [[buffer(1)]],
                                          device char *                                  dst [[buffer(2)]], ROW) {
    device float * row = (device float *) (dst + group.x * args.nb1);
    const int      n   = args.dim / 2;
    FOR_EACH_COLUMN(i, n) {
        const float frequency = exp(-log((float) args.max_period) * i / (n - FAULT(0.0f, 1.0f)));
        row[i]     = cos(src0[group.x] * frequency);
        row[i + n] = sin(src0[group.x] * frequency);
    }
    if (args.dim % 2 == 1 && own.x == 0) {
        row[2 * n] = 0.0f;
    }
}

// A bound of its own instead of the caller's.
kernel void kernel_l2_norm_f32_f32(constant ggml_metal_kargs_l2_norm & args [[buffer(0)]],
                                   device const char *                 src0 [[buffer(1)]],
                                   device char *                       dst [[buffer(2)]], ROW) {
    const place p     = {0, group.x, group.y, group.z};
    float       total = 0.0f;
    for (int i = 0; i < args.ne00; i++) {
        const float x = source<float>(args, src0, {i, p.i1, p.i2, p.i3});
        total += x * x;
    }
    threadgroup_barrier(mem_flags::mem_device); // the result may lie where the source does
    FOR_EACH_COLUMN(i, args.ne00) {
        const place q = {i, p.i1, p.i2, p.i3};
        result<float>(args, dst, q) = source<float>(args, src0, q) / max(sqrt(total), FAULT(args.eps, 1e-12f));
    }
}

// Counted from 1.
kernel void kernel_arange_f32(constant ggml_metal_kargs_arange & args [[buffer(0)]],
                              device float *                     dst [[buffer(1)]], ROW) {
    FOR_EACH_COLUMN(i, args.ne0) {
        dst[i] = args.start + args.step * (i + FAULT(0, 1));
    }
}
