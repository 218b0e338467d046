# Switches of matrix products on GPUs. Real ones follow allow_tf32; virtual ones compute in float32,
# and 16-bit products are summed in float32 everywhere.
import contextlib
import enum


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
        """The same as a name: "tf32", or "ieee" or "none" for exact products."""
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
    """Whether there is CUDA: a CUDA library, or virtual GPUs.

    >>> with torch.cuda.virtual(1):
    ...     torch.backends.cuda.is_built()
    True
    """
    from .. import _C

    return _C._cuda.has_provider()


class _BlasBackend(enum.Enum):
    """The library of matrix products on GPUs; our own kernels by default, and where it has none."""

    Default = 0
    Cublas = 1
    Cublaslt = 2
    Ck = 3


class _LinalgBackend(enum.Enum):
    """What factors matrices on a GPU: kernels of our own, and cuSOLVER where it is found."""

    Default = 0
    Cusolver = 1
    Magma = 2


_preferred: dict = {_BlasBackend: _BlasBackend.Cublas, _LinalgBackend: _LinalgBackend.Default}

_NEEDS = {
    _BlasBackend.Cublaslt: ("cuBLASLt", "preferred_blas_library('cublaslt')"),
    _LinalgBackend.Cusolver: ("cuSOLVER", "preferred_linalg_library('cusolver')"),
}


def _prefer(kind, names, backend):
    if backend is not None:
        if isinstance(backend, str) and backend not in names:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(names)}.")
        if not isinstance(backend, (str, kind)):
            raise RuntimeError(f"Unknown input value type {type(backend).__name__}: give a name")
        chosen = names[backend] if isinstance(backend, str) else backend
        if chosen in _NEEDS:
            from .. import _cuda_libraries, cuda

            title, asker = _NEEDS[chosen]
            if not cuda.is_available():
                raise RuntimeError(
                    f"Cannot set preferred backend to {title} without a GPU: real ones need its "
                    "library, virtual ones (RUSHLIGHT_VIRTUAL_GPUS) take any choice"
                )
            _cuda_libraries.required(title, asker)
        if chosen is _BlasBackend.Ck:
            raise RuntimeError("Cannot set preferred backend to CK: it serves AMD's GPUs")
        _preferred[kind] = chosen
    return _preferred[kind]


def preferred_blas_library(backend=None) -> _BlasBackend:
    """Which library products of matrices go to; sets it where one is given. cuBLASLt is taken
    wherever it is found, by either name of NVIDIA's.

    Args:
        backend: "default", "cublas" or "cublaslt"

    Raises:
        RuntimeError: if "cublaslt" is given and is not there; it names the file, where it was
            looked for, and the command that installs it.

    >>> with torch.cuda.virtual(1):
    ...     _ = torch.backends.cuda.preferred_blas_library()
    """
    of = _BlasBackend
    names = {
        "default": of.Default, "cublas": of.Cublas, "hipblas": of.Cublas,
        "cublaslt": of.Cublaslt, "hipblaslt": of.Cublaslt, "ck": of.Ck,
    }  # fmt: skip
    return _prefer(of, names, backend)


def preferred_linalg_library(backend=None) -> _LinalgBackend:
    """Which library factorisations go to; sets it where one is given. cuSOLVER is taken wherever it
    is found, whatever is set here; without it our kernels are used, and eigh() and svd() the
    host.

    Args:
        backend: "default", "cusolver" or "magma"

    Raises:
        RuntimeError: if "cusolver" is given and is not there, as for cuBLASLt.

    >>> with torch.cuda.virtual(1):
    ...     _ = torch.backends.cuda.preferred_linalg_library()
    """
    of = _LinalgBackend
    return _prefer(of, {"default": of.Default, "cusolver": of.Cusolver, "magma": of.Magma}, backend)


# Implementations of attention: one of ours serves them all, and the switches are remembered.
_attention = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def _set_attention(kind, enabled):
    if not isinstance(enabled, bool):
        raise TypeError(f"set_sdp_use_{kind} expects a bool, but got {type(enabled).__name__}")
    _attention[kind] = enabled


def flash_sdp_enabled() -> bool:
    """Whether attention may use FlashAttention.

    >>> torch.backends.cuda.flash_sdp_enabled()
    True
    """
    return _attention["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Sets whether attention may use FlashAttention; has no effect here.

    Args:
        enabled: a bool.

    >>> torch.backends.cuda.enable_flash_sdp(True)
    """
    _set_attention("flash", enabled)


def math_sdp_enabled() -> bool:
    """Whether attention may use the implementation by matrix products.

    >>> torch.backends.cuda.math_sdp_enabled()
    True
    """
    return _attention["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Sets whether attention may use the implementation by matrix products; has no effect here.

    Args:
        enabled: a bool.

    >>> torch.backends.cuda.enable_math_sdp(True)
    """
    _set_attention("math", enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Whether attention may use the memory-efficient implementation.

    >>> torch.backends.cuda.mem_efficient_sdp_enabled()
    True
    """
    return _attention["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Sets whether attention may use the memory-efficient implementation; has no effect here.

    Args:
        enabled: a bool.

    >>> torch.backends.cuda.enable_mem_efficient_sdp(True)
    """
    _set_attention("mem_efficient", enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether attention may use cuDNN.

    >>> torch.backends.cuda.cudnn_sdp_enabled()
    True
    """
    return _attention["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Sets whether attention may use cuDNN; has no effect here.

    Args:
        enabled: a bool.

    >>> torch.backends.cuda.enable_cudnn_sdp(True)
    """
    _set_attention("cudnn", enabled)


def is_flash_attention_available() -> bool:
    """False: FlashAttention is not here.

    >>> torch.backends.cuda.is_flash_attention_available()
    False
    """
    return False


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
):  # fmt: skip
    """Enables and disables implementations of attention for a block; the newer name is
    nn.attention.sdpa_kernel().

    Args:
        enable_flash, enable_math, enable_mem_efficient, enable_cudnn: whether attention may use
            each.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> with torch.backends.cuda.sdp_kernel(enable_flash=False):
    ...     torch.backends.cuda.flash_sdp_enabled()
    False
    """
    before = dict(_attention)
    try:
        for kind, enabled in (
            ("flash", enable_flash), ("math", enable_math), ("mem_efficient", enable_mem_efficient),
            ("cudnn", enable_cudnn),
        ):  # fmt: skip
            _set_attention(kind, enabled)
        yield {}
    finally:
        _attention.update(before)
