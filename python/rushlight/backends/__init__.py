# Switches of the libraries behind the devices, and whether they are there: cpu, cuda, cudnn, mkl,
# mkldnn, mps, openmp. Each is a module of its own, as in torch.
from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
