# Switches of matrix products on GPUs. Real ones follow allow_tf32; virtual ones compute in float32,
# and 16-bit products are summed in float32 everywhere.


class _Matmul:
    """`torch.backends.cuda.matmul`: how exact products of float32 and half precision are."""

    def __init__(self):
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self._exact = "none"

    @property
    def allow_tf32(self) -> bool:
        """Whether a GPU may round the operands of float32 products to 10 bits of fraction."""
        from .. import _C

        return _C._get_switch("tf32_products")

    @property
    def fp32_precision(self) -> str:
        """The same as a word: "tf32", or "ieee" or "none" for exact products."""
        return "tf32" if self.allow_tf32 else self._exact

    def __setattr__(self, name, value):
        from .. import _C

        if name == "allow_tf32":
            _C._set_switch("tf32_products", bool(value))
        elif name == "fp32_precision":
            if value not in ("ieee", "tf32", "none"):
                raise RuntimeError(f"Unknown precision: {value}")
            _C._set_switch("tf32_products", value == "tf32")
            if value != "tf32":
                self._exact = value
        elif name in (
            "_exact",
            "allow_fp16_reduced_precision_reduction",
            "allow_bf16_reduced_precision_reduction",
        ):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError("Unknown attribute " + name)


matmul = _Matmul()


def is_built() -> bool:
    """Whether CUDA is there: a CUDA library, or virtual GPUs."""
    from .. import _C

    return _C._cuda.has_provider()
