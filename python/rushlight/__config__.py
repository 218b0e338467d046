"""torch.__config__: how the library was built and how many threads it uses, as text."""

import warnings

__all__ = ["parallel_info", "show"]

# torch.has_lapack and its relatives: OpenBLAS has LAPACK, and Fourier transforms are our own.
has_lapack = has_spectral = True
has_mkl = has_openmp = False
_REPLACED = {  # torch warns of these
    "has_mps": ("mps", "is_built"),
    "has_cuda": ("cuda", "is_built"),
    "has_cudnn": ("cudnn", "is_available"),
    "has_mkldnn": ("mkldnn", "is_available"),
}


def __getattr__(name):
    if name not in _REPLACED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rushlight import backends

    module, function = _REPLACED[name]
    instead = f"torch.backends.{module}.{function}()"
    warnings.warn(f"'{name}' is deprecated, please use '{instead}'", stacklevel=3)
    return getattr(getattr(backends, module), function)()


def show() -> str:
    """What the library was built with.

    >>> print(torch.__config__.show().splitlines()[0])
    PyTorch built with:
    """
    from rushlight import backends
    from rushlight._version import __version__

    return (
        "PyTorch built with:\n"
        f"  - rushlight {__version__}\n"
        "  - C++ Version: 202002\n"
        f"  - CPU capability usage: {backends.cpu.get_cpu_capability()}\n"
        f"  - Build settings: BLAS_INFO=open, USE_CUDA={int(backends.cuda.is_built())}, "
        f"USE_MKL={'ON' if backends.mkl.is_available() else 'OFF'}, USE_MKLDNN=OFF, "
        "USE_OPENMP=OFF, \n"
    )


def parallel_info() -> str:
    """The numbers of threads.

    >>> print(torch.__config__.parallel_info().splitlines()[0])
    ATen/Parallel:
    """
    from rushlight import _C
    from rushlight._defaults import get_num_interop_threads

    return (
        f"ATen/Parallel:\n\tat::get_num_threads() : {_C.get_num_threads()}\n"
        f"\tat::get_num_interop_threads() : {get_num_interop_threads()}\n"
        "ATen parallel backend: native thread pool\n"
    )
