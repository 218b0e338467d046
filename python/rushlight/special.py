"""torch.special: error, gamma and Bessel functions, orthogonal polynomials, and names that the top
level has too. All of it is C++: an op says that it is visible here in kernels/pointwise."""

from rushlight import _C
from rushlight._C import log_softmax, logsumexp, softmax

__all__ = ["log_softmax", "logsumexp", "softmax"]

for _name, _function in vars(_C._special).items():
    if not _name.startswith("_"):
        globals()[_name] = _function
        __all__.append(_name)
