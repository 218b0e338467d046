# Switches of matrix products on GPUs. Kept for the real provider; virtual GPUs compute in float32.


class _Matmul:
    """`torch.backends.cuda.matmul`: how exact products of float32 and half precision are."""

    def __init__(self):
        self.allow_tf32 = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self.fp32_precision = "none"

    def __setattr__(self, name, value):
        known = (
            "allow_tf32",
            "allow_fp16_reduced_precision_reduction",
            "allow_bf16_reduced_precision_reduction",
            "fp32_precision",
        )
        if name not in known:
            raise AttributeError("Unknown attribute " + name)
        object.__setattr__(self, name, value)


matmul = _Matmul()


def is_built() -> bool:
    """Whether CUDA is there: a CUDA library, or virtual GPUs."""
    from .. import _C

    return _C._cuda.has_provider()
