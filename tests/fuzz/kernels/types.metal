// Wrong types and conversions.

// Sums in half precision.
kernel void kernel_sum_rows_f32_f32(constant ggml_metal_kargs_sum_rows & args [[buffer(0)]],
                                    device const char *                  src0 [[buffer(1)]],
                                    device char *                        dst [[buffer(2)]], GRID) {
    FOR_EACH(row, args.ne01 * args.ne02 * args.ne03) {
        const place p     = {0, row % args.ne01, row / args.ne01 % args.ne02, row / args.ne01 / args.ne02};
        float       total = 0.0f;
        for (long i = 0; i < args.ne00; i++) {
            total += source<float>(args, src0, {i, p.i1, p.i2, p.i3});
            total = FAULT(total, half(total));
        }
        result<float>(args, dst, p) = total;
    }
}

half toward_zero(float x) {
    const half nearest = half(x);
    return abs(float(nearest)) > abs(x) ? as_type<half>(ushort(as_type<ushort>(nearest) - 1)) : nearest;
}

// Cut off instead of rounded.
kernel void kernel_cpy_f32_f16(constant ggml_metal_kargs_cpy & args [[buffer(0)]],
                               device const char *             src0 [[buffer(1)]],
                               device char *                   dst [[buffer(2)]], GRID) {
    FOR_EACH(i, args.ne0 * args.ne1 * args.ne2 * args.ne3) {
        const float x = source<float>(args, src0, place_in_source(args, i));
        result<half>(args, dst, place_in_result(args, i)) = FAULT(half(x), toward_zero(x));
    }
}

// Rounded instead of cut off.
kernel void kernel_cpy_f32_i32(constant ggml_metal_kargs_cpy & args [[buffer(0)]],
                               device const char *             src0 [[buffer(1)]],
                               device char *                   dst [[buffer(2)]], GRID) {
    FOR_EACH(i, args.ne0 * args.ne1 * args.ne2 * args.ne3) {
        const float x = source<float>(args, src0, place_in_source(args, i));
        result<int>(args, dst, place_in_result(args, i)) = int(FAULT(x, rint(x)));
    }
}

// The bits of an int, read as a float.
kernel void kernel_cpy_i32_f32(constant ggml_metal_kargs_cpy & args [[buffer(0)]],
                               device const char *             src0 [[buffer(1)]],
                               device char *                   dst [[buffer(2)]], GRID) {
    FOR_EACH(i, args.ne0 * args.ne1 * args.ne2 * args.ne3) {
        const int x = source<int>(args, src0, place_in_source(args, i));
        result<float>(args, dst, place_in_result(args, i)) = FAULT(float(x), as_type<float>(x));
    }
}

// 16 bits for the number of a row.
kernel void kernel_get_rows_f32(constant ggml_metal_kargs_get_rows & args [[buffer(0)]],
                                device const char *                  src0 [[buffer(1)]],
                                device const char *                  src1 [[buffer(2)]],
                                device char *                        dst [[buffer(3)]], ROW) {
    const uint i10 = group.x % args.ne10, i11 = group.y, i12 = group.z;
    const int  row = *(device const int *) (src1 + i10 * args.nb10 + i11 * args.nb11 + i12 * args.nb12);
    device const float * from =
        (device const float *) (src0 + FAULT(row, ushort(row)) * args.nb01 + i11 * args.nb02 + i12 * args.nb03);
    device float * to = (device float *) (dst + i10 * args.nb1 + i11 * args.nb2 + i12 * args.nb3);
    if (group.x < args.ne10) {
        FOR_EACH_COLUMN(i, args.ne00) {
            to[i] = from[i];
        }
    }
}

// Rows numbered by 64 bits, read as if by 32.
kernel void kernel_set_rows_f32_i64(constant ggml_metal_kargs_set_rows & args [[buffer(0)]],
                                    device const char *                  src0 [[buffer(1)]],
                                    device const char *                  src1 [[buffer(2)]],
                                    device char *                        dst [[buffer(3)]], ROW) {
    const long          i1 = group.x * threads.y + own.y, i2 = group.y, i3 = group.z;
    device const char * numbers = src1 + i2 % args.ne11 * args.nb11 + i3 % args.ne12 * args.nb12;
    if (i1 < args.ne01) {
        const long row = FAULT(((device const long *) numbers)[i1], ((device const int *) numbers)[i1]);
        device const float * from = (device const float *) (src0 + i1 * args.nb01 + i2 * args.nb02 + i3 * args.nb03);
        device float *       to   = (device float *) (dst + row * args.nb1 + i2 * args.nb2 + i3 * args.nb3);
        FOR_EACH_COLUMN(i, args.nk0) {
            to[i] = from[i];
        }
    }
}
