"""Written by tools/index.py from the table of operations; do not edit.

For each place where operations are visible: module -> the names that it defines.
"""

TORCH = {
    "rushlight._broadcasting": "broadcast_shapes",
    "rushlight._casts": "_cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short",
    "rushlight._convolutions": "conv_tbc",
    "rushlight._creation": "empty_permuted from_file",
    "rushlight._defaults": "get_device_module get_float32_matmul_precision get_num_interop_threads set_default_device set_default_dtype set_float32_matmul_precision set_num_interop_threads",
    "rushlight._determinism": "are_deterministic_algorithms_enabled get_deterministic_debug_mode is_deterministic_algorithms_warn_only_enabled set_deterministic_debug_mode use_deterministic_algorithms",
    "rushlight._fake_quantize": "dequantize fake_quantize_per_channel_affine fake_quantize_per_tensor_affine",
    "rushlight._hashes": "hash_tensor",
    "rushlight._linalg.extremes": "lobpcg",
    "rushlight._linalg.top_level_factors": "cholesky cholesky_inverse cholesky_solve det inverse logdet lu lu_solve lu_unpack orgqr pinverse qr slogdet svd triangular_solve",
    "rushlight._linalg.top_level_products": "chain_matmul cross dist inner matrix_exp matrix_power renorm vander vdot",
    "rushlight._losses": "binary_cross_entropy_with_logits cosine_embedding_loss frobenius_norm grid_sampler hinge_embedding_loss instance_norm kl_div margin_ranking_loss nuclear_norm poisson_nll_loss triplet_margin_loss",
    "rushlight._lowrank": "pca_lowrank svd_lowrank",
    "rushlight._private_ops": "_convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo _grouped_mm _int_mm _log_softmax_backward_data _shape_as_tensor _softmax_backward_data native_channel_shuffle",
    "rushlight._sparse.compressed": "sparse_compressed_tensor sparse_csc_tensor sparse_csr_tensor",
    "rushlight._sparse.construction": "sparse_coo_tensor",
    "rushlight._sparse.methods": "dsmm hsmm hspmm resize_as_sparse_ saddmm smm spmm sspaddmm",
    "rushlight._spectral": "istft stft",
    "rushlight._statistics": "histogram histogramdd",
    "rushlight._symbolic_numbers": "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt",
    "rushlight._tensor": "is_inference",
    "rushlight._tensor_elements": "nonzero_static",
    "rushlight._tensor_memory": "is_storage resize_as_",
    "rushlight._tensor_str": "get_printoptions set_printoptions",
    "rushlight._tensor_types": "set_default_tensor_type typename",
    "rushlight._views": "adjoint alias_copy narrow_copy",
    "rushlight._windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "rushlight.amp._old_names": "get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_cpu_enabled set_autocast_cpu_dtype set_autocast_gpu_dtype",
    "rushlight.functional": "einsum",
    "rushlight.nn._functional.distance": "cosine_similarity pairwise_distance",
    "rushlight.nn._functional.sparse": "embedding_renorm_",
    "rushlight.nn.utils._weight_norms": "norm_except_dim",
}

TENSOR = {
    "rushlight._fake_quantize": "dequantize",
    "rushlight._hashes": "hash_tensor",
    "rushlight._linalg.top_level_factors": "cholesky cholesky_inverse cholesky_solve det inverse logdet lu lu_solve orgqr pinverse qr slogdet svd triangular_solve",
    "rushlight._linalg.top_level_products": "cross dist inner matrix_exp matrix_power renorm renorm_ vdot",
    "rushlight._sparse.conversion": "to_sparse to_sparse_coo to_sparse_csc to_sparse_csr",
    "rushlight._sparse.methods": "_coalesced_ _indices _nnz _values ccol_indices coalesce col_indices crow_indices indices is_coalesced resize_as_sparse_ row_indices smm sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm values",
    "rushlight._spectral": "istft stft",
    "rushlight._statistics": "histogram",
    "rushlight._tensor": "__array_wrap__ __complex__ __contains__ __deepcopy__ __dir__ __dlpack__ __dlpack_device__ __format__ __rdiv__ __reduce_ex__ __repr__ __reversed__ _is_view as_subclass dim_order is_inference module_load register_hook register_post_accumulate_grad_hook type",
    "rushlight._tensor_elements": "apply_ fill_diagonal_ map2_ map_ nonzero_static",
    "rushlight._tensor_memory": "_typed_storage dense_dim is_shared new new_empty_strided record_stream resize resize_as resize_as_ set_ share_memory_ sparse_dim storage to_dense untyped_storage",
    "rushlight._views": "adjoint narrow_copy",
}

FUNCTIONAL = {
    "rushlight._private_ops": "native_channel_shuffle",
    "rushlight.nn._functional.activation": "gumbel_softmax",
    "rushlight.nn._functional.distance": "cosine_similarity normalize pairwise_distance",
    "rushlight.nn._functional.dropout": "dropout1d dropout2d dropout3d",
    "rushlight.nn._functional.embedding_losses": "cosine_embedding_loss hinge_embedding_loss triplet_margin_loss triplet_margin_with_distance_loss",
    "rushlight.nn._functional.likelihood_losses": "gaussian_nll_loss kl_div poisson_nll_loss",
    "rushlight.nn._functional.linear_losses": "linear_cross_entropy",
    "rushlight.nn._functional.margin_losses": "margin_ranking_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss soft_margin_loss",
    "rushlight.nn._functional.multi_head": "multi_head_attention_forward",
    "rushlight.nn._functional.padding": "pad",
    "rushlight.nn._functional.resample": "interpolate upsample upsample_bilinear upsample_nearest",
    "rushlight.nn._functional.sparse": "embedding embedding_bag",
}

SPECIAL = {
}

LINALG = {
    "rushlight._linalg.eigen": "eig eigvals",
    "rushlight._linalg.factors": "cholesky cholesky_ex eigh eigvalsh householder_product ldl_factor ldl_factor_ex lu lu_factor lu_factor_ex qr svd svdvals",
    "rushlight._linalg.norms": "cond matrix_norm norm vector_norm",
    "rushlight._linalg.products": "cross diagonal matmul tensorinv tensorsolve vander vecdot",
    "rushlight._linalg.solving": "inv inv_ex ldl_solve lstsq lu_solve matrix_rank pinv solve solve_ex solve_triangular",
}
