# Switches of the libraries behind the devices, and whether they are there: cpu, cuda, cudnn, mkl,
# mkldnn, mps, openmp. Each is a module of its own, as in torch.
import contextlib

from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]

# torch.backends.disable_global_flags() is not here: switches can always be set.
__allow_nonbracketed_mutation = contextlib.nullcontext


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
