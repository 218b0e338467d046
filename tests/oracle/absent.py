"""Why rushlight does not have some of torch's operations, modules and optimizers."""

import fnmatch

REASONS = {
    "complex numbers, and what gives them": (
        "cdouble cfloat chalf complex fft.* imag istft linalg.eig linalg.eigvals polar stft "
        "view_as_complex view_as_real"
    ),
    "sparse, nested and masked tensors": (
        "_segment_reduce.* masked.* sparse.* to_sparse optim.SparseAdam"
    ),
    "parts of torch's compiler and kernels of its own, not meant for users": (
        "_batch_norm_with_update _chunk_cat _native_batch_norm_legit "
        "_softmax_backward_data _unsafe_masked_index _unsafe_masked_index_put_accumulate "
        "_upsample_bilinear2d_aa grid_sampler_2d grid_sampler_3d jiterator_* "
        "max_pool2d_with_indices_backward native_* torch._scaled_mm* torch.ops.aten.*"
    ),
    "operators that Python itself has": "__rdiv__ slice",
    "factorisations that are rarely called by name": ("geqrf linalg.ldl_* ormqr"),
    "torch 2.13's own novelties": (
        "hash_tensor nn.functional.linear_cross_entropy* nn.LinearCrossEntropyLoss optim.Muon "
        "optim.Adafactor"
    ),
}


def reason(title):
    """Why it is not here; None if nobody has said."""
    for words, patterns in REASONS.items():
        if any(fnmatch.fnmatchcase(title, pattern) for pattern in patterns.split()):
            return words
    return None
