"""Why rushlight does not have some of torch's names: operations, modules, optimizers and others.

tools/coverage.py looks each name of docs/coverage.md up here, by its path without `torch.`.
"""

import fnmatch

REASONS = {
    "complex numbers, and what gives them": ("is_conj is_neg cuda.Complex*"),
    "here, and compared with torch by tests/ops instead (ops.COMPLEX)": (
        "cdouble cfloat chalf complex linalg.eig linalg.eigvals polar view_as_complex istft stft "
        "fft.*fft fft.*fft2 fft.*fftn masked.logaddexp"
    ),
    "sparse tensors in blocks, nested and masked tensors": (
        "_segment_reduce.* sparse.*SemiStructured* sparse.*semi_structured* sparse.*gradcheck "
        "to_sparse_bs[cr] sparse_bs[cr]_tensor *_indices_copy indices_copy "
        "values_copy to_padded_tensor"
    ),
    "parts of torch's compiler and kernels of its own, not meant for users": (
        "_batch_norm_with_update _chunk_cat _native_batch_norm_legit _softmax_backward_data "
        "_unsafe_masked_index _unsafe_masked_index_put_accumulate _upsample_bilinear2d_aa "
        "grid_sampler_2d grid_sampler_3d jiterator_* max_pool2d_with_indices_backward native_* "
        "torch._scaled_mm* torch.ops.aten.* Sym* sym_* *_ir import_ir_* parse_* "
        "unify_type_list merge_type_* fork wait cudnn_* miopen_* mkldnn_* batch_norm_[begsu]* "
        "affine_grid_generator *_mkldnn conv_tbc init_num_threads cond *has_torch_function* "
        "const_data_ptr is_distributed slice_inverse get_device_module thread_safe_generator "
        "autocast_*crement_nesting assert_int_or_pair dim_order AVG SUM embedding_bag "
        "Tensor.index"
    ),
    "quantized tensors, and numbers of 8 bits and fewer": (
        "*quantize* fake_quant* fbgemm_* fused_moving_avg_obs_fake_quant choose_qparams_* "
        "int_repr q_* qscheme qint* quint* int[1-7] uint[1-7] bit bits* "
        "*scaled_mm *scaled_grouped_mm"
    ),
    "other devices than CPUs and NVIDIA's": (
        "ipu xpu mtia is_ipu is_maia is_mtia is_vulkan* is_xla *_ipu_* *_xla_* "
        "is_autocast_ipu_* is_autocast_xla_*"
    ),
    "removed or deprecated in torch itself": (
        "Tensor.eig Tensor.lstsq Tensor.solve Tensor.symeig Tensor.volatile Tensor.reinforce "
        "storage_type *Storage *autocast_cpu_* *autocast_gpu_* cuda.has_half cuda.has_magma "
        "nn.Container utils.data.*DataPipe* utils.data.*datapipe* "
        "utils.data.DataChunk utils.data.*_validation* utils.data.non_deterministic "
        "autograd.NestedIOFunction"
    ),
    "CUDA graphs, allocators of a program's own, and NVIDIA's handles": (
        "cuda.CUDAGraph cuda.*graph* cuda.*allocator* cuda.MemPool cuda.use_mem_pool "
        "cuda.*_handle cuda.cudart cuda.cudaStatus cuda.check_error cuda.GreenContext "
        "cuda.ExternalStream cuda.get_stream_from_external cuda.is_current_stream_capturing "
        "cuda.CUDAPluggableAllocator cuda.caching_allocator_* cuda.*host_memory_stats*"
    ),
    "classes and names of torch's own process groups, which no program needs": (
        "distributed.*Options distributed.BackendConfig distributed.ProcessGroupGloo "
        "distributed.GroupName distributed.RankType distributed.Logger distributed.Reducer "
        "distributed.record_comm distributed.BuiltinCommHookType"
    ),
    "calls of NCCL or of a debugger that only a run by hand can use": (
        "distributed.shrink_group distributed.breakpoint"
    ),
    "operators that Python itself has": "__rdiv__ slice",
    "torch 2.13's own novelties": (
        "nn.functional.linear_cross_entropy* nn.LinearCrossEntropy* "
        "optim.swap_in_* autograd.enforce_grad_layout_policy "
    ),
}


def reason(title):
    """Why it is not here; None if no reason is listed."""
    for words, patterns in REASONS.items():
        if any(fnmatch.fnmatchcase(title, pattern) for pattern in patterns.split()):
            return words
    return None
