// Wrong strides and lengths.

// nb01 for nb02.
kernel void kernel_repeat_f32(constant ggml_metal_kargs_repeat & args [[buffer(0)]],
                              device const char *                src0 [[buffer(1)]],
                              device char *                      dst [[buffer(2)]], GRID) {
    FOR_EACH(i, (long) args.ne0 * args.ne1 * args.ne2 * args.ne3) {
        const place  p    = place_in_result(args, i);
        const size_t from = p.i0 % args.ne00 * args.nb00 + p.i1 % args.ne01 * args.nb01 +
                            p.i2 % args.ne02 * FAULT(args.nb02, args.nb01) + p.i3 % args.ne03 * args.nb03;
        result<float>(args, dst, p) = *(device const float *) (src0 + from);
    }
}

// ne01 for ne00: as many columns of the second tensor as the first one has rows are taken to be before.
kernel void kernel_concat(constant ggml_metal_kargs_concat & args [[buffer(0)]],
                          device const char *                src0 [[buffer(1)]],
                          device const char *                src1 [[buffer(2)]],
                          device char *                      dst [[buffer(3)]], GRID) {
    FOR_EACH(i, (long) args.ne0 * args.ne1 * args.ne2 * args.ne3) {
        const place p = place_in_result(args, i);
        if (p.i0 < args.ne00 && p.i1 < args.ne01 && p.i2 < args.ne02 && p.i3 < args.ne03) {
            result<float>(args, dst, p) = source<float>(args, src0, p);
            continue;
        }
        const long i0 = p.i0 - (args.dim == 0 ? FAULT(args.ne00, args.ne01) : 0);
        const long i1 = p.i1 - (args.dim == 1 ? args.ne01 : 0);
        const long i2 = p.i2 - (args.dim == 2 ? args.ne02 : 0);
        const long i3 = p.i3 - (args.dim == 3 ? args.ne03 : 0);
        result<float>(args, dst, p) =
            *(device const float *) (src1 + i0 * args.nb10 + i1 * args.nb11 + i2 * args.nb12 + i3 * args.nb13);
    }
}

// Rows by the columns' scale.
kernel void kernel_upscale_nearest_f32(constant ggml_metal_kargs_upscale & args [[buffer(0)]],
                                       device const char *                 src0 [[buffer(1)]],
                                       device char *                       dst [[buffer(2)]], GRID) {
    FOR_EACH(i, args.ne0 * args.ne1 * args.ne2 * args.ne3) {
        const place p    = place_in_result(args, i);
        const place from = {(long) (p.i0 / args.sf0), (long) (p.i1 / FAULT(args.sf1, args.sf0)),
                            (long) (p.i2 / args.sf2), (long) (p.i3 / args.sf3)};
        result<float>(args, dst, p) = source<float>(args, src0, from);
    }
}

// What leaves a row comes back where a column would end.
kernel void kernel_roll_f32(constant ggml_metal_kargs_roll & args [[buffer(0)]],
                            device const char *              src0 [[buffer(1)]],
                            device char *                    dst [[buffer(2)]], GRID) {
    FOR_EACH(i, args.ne0 * args.ne1 * args.ne2 * args.ne3) {
        const place p  = place_in_result(args, i);
        const long  n0 = FAULT(args.ne00, args.ne01);
        const place from = {(p.i0 - args.s0 % n0 + n0) % n0, (p.i1 - args.s1 + args.ne01) % args.ne01,
                            (p.i2 - args.s2 + args.ne02) % args.ne02, (p.i3 - args.s3 + args.ne03) % args.ne03};
        result<float>(args, dst, p) = source<float>(args, src0, from);
    }
}

// Broadcast by the place in the batch instead of the expert.
kernel void kernel_add_id(constant ggml_metal_kargs_add_id & args [[buffer(0)]],
                          device const char *                src0 [[buffer(1)]],
                          device const char *                src1 [[buffer(2)]],
                          device const char *                src2 [[buffer(3)]],
                          device float *                     dst [[buffer(4)]], ROW) {
    const int            expert = *(device const int *) (src2 + group.x * sizeof(int) + group.y * args.nb21);
    device const float * a      = (device const float *) (src0 + group.x * args.nb01 + group.y * args.nb02);
    device const float * b      = (device const float *) (src1 + FAULT(expert, group.x) * args.nb11);
    FOR_EACH_COLUMN(i, args.ne0) {
        dst[(group.y * args.ne1 + group.x) * args.ne0 + i] = a[i] + b[i];
    }
}

// Rows are as long as columns.
kernel void kernel_pool_2d_avg_f32(constant ggml_metal_kargs_pool_2d & args [[buffer(0)]],
                                   device const float *                src0 [[buffer(1)]],
                                   device float *                      dst [[buffer(2)]], GRID) {
    FOR_EACH(i, args.np) {
        const long           x = i % args.OW, y = i / args.OW % args.OH;
        device const float * image = src0 + i / args.OW / args.OH * args.IW * args.IH;
        float                total = 0.0f;
        for (long v = y * args.s1 - args.p1; v < y * args.s1 - args.p1 + args.k1; v++) {
            for (long u = x * args.s0 - args.p0; u < x * args.s0 - args.p0 + args.k0; u++) {
                const bool inside = u >= 0 && u < args.IW && v >= 0 && v < args.IH;
                total += inside ? image[v * FAULT(args.IW, args.IH) + u] : 0.0f;
            }
        }
        dst[i] = total / (args.k0 * args.k1);
    }
}
