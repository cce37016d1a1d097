"""Since which upstream row a getter exists. Rows from the oldest ggml to the newest; none lost a getter."""

ROWS = (
    "whisper.rn-0.5.2",
    "whisper.rn-0.5.5",
    "pywhispercpp-1.5.0",
    "ggml-py-0.10.1",
    "pywhispercpp-1.5.1",
    "ggml-python-0.0.45",
    "libggml-python-0.20.2",
    "llama-cpp-python-0.3.36",
)

# What each row has that the one before it has not.
_NEW = dict(
    zip(
        ROWS,
        (
            """
            arange argmax argsort base bin conv_transpose_1d conv_transpose_2d cpy
            flash_attn_ext flash_attn_ext_blk flash_attn_ext_pad flash_attn_ext_vec
            flash_attn_ext_vec_reduce get_rows glu group_norm im2col l2_norm mul_mm
            mul_mm_id mul_mm_id_map0 mul_mv mul_mv_ext mul_mv_id norm opt_step_adamw
            opt_step_sgd pad pad_reflect_1d pool_2d repeat rope rwkv set_rows soft_max
            ssm_conv ssm_scan sum sum_rows timestep_embedding unary upscale
            """,
            """
            argsort_merge conv_2d count_equal cumsum_add cumsum_blk memset
            ssm_conv_batched top_k top_k_merge tri
            """,
            """
            bin_one diag gated_delta_net pool_1d solve_tri
            """,
            """
            conv_3d roll
            """,
            "",
            """
            concat
            """,
            """
            col2im_1d conv_2d_dw dsv4_hc fwht lightning_indexer silu_back snake
            """,
            """
            flash_attn_ext_kv_f16 flash_attn_ext_vec_idx moe_reduce mul_mm_id_amax
            mul_mm_id_amax_part norm_scale ssm_scan_ssd_mma top_k_radix topk_moe
            """,
        ),
        strict=True,
    )
)

FIRST_ROW = {getter: row for row, getters in _NEW.items() for getter in getters.split()}
