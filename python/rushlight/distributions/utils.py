"""Parameters of distributions: of one shape, and as probabilities or logits."""

import functools

from rushlight import _C
from rushlight._grad_mode import enable_grad
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.distribution import logits_of as _logits_of
from rushlight.distributions.distribution import probabilities as _probabilities

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits",
    "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip
euler_constant = 0.57721566490153286060


def logits_to_probs(logits, is_binary=False):
    """Probabilities from logits: softmax over the last dimension, or sigmoid.

    Args:
        logits: unnormalised log-probabilities, or log-odds.
        is_binary: whether they are log-odds.

    Shape: that of logits.

    >>> torch.distributions.utils.logits_to_probs(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """
    return _probabilities(logits, is_binary)


def probs_to_logits(probs, is_binary=False):
    """Logits from probabilities, which are kept off 0 and 1.

    Args:
        probs: probabilities.
        is_binary: whether they are of one class of two.

    Shape: that of probs.

    >>> torch.distributions.utils.probs_to_logits(torch.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    return _logits_of(probs, is_binary)


def clamp_probs(probs):
    """Probabilities kept off 0 and 1 by the dtype's eps.

    Args:
        probs: probabilities.

    Shape: that of probs.

    >>> torch.distributions.utils.clamp_probs(torch.tensor([0.0, 0.5])) > 0
    tensor([True, True])
    """
    from rushlight._type_info import finfo

    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class lazy_property:
    """Decorates a method without arguments, which is called once, with gradients: its result is
    then an attribute of the object.

    Args:
        wrapped: the method.

    >>> class Squares:
    ...     @torch.distributions.utils.lazy_property
    ...     def nine(self):
    ...         print("computed")
    ...         return 9
    >>> squares = Squares()
    >>> squares.nine + squares.nine
    computed
    18
    """

    def __init__(self, wrapped):
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return property(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat, diag=0):
    """The lower triangle of matrices, row by row.

    Args:
        mat: square matrices, of shape (..., n, n).
        diag: the last diagonal that is taken, from the main one.

    Shape: (*, n, n) gives (*, k), k being the number of elements of the triangle.

    >>> torch.distributions.utils.tril_matrix_to_vec(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = _C.tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec, diag=0):
    """Square matrices with the vector's values in the lower triangle, row by row.

    Args:
        vec: of shape (..., number of the triangle's elements).
        diag: the last diagonal that is filled, from the main one.

    Shape: (*, k) gives (*, n, n), k being the number of elements of the triangle.

    >>> torch.distributions.utils.vec_to_tril_matrix(torch.tensor([1.0, 3.0, 4.0]))
    tensor([[1., 0.],
            [3., 4.]])
    """
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1))
         ** 0.5) / 2  # fmt: skip
    if round(n) - n > _eps(vec):
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    n = round(n)
    matrix = vec.new_zeros(*vec.shape[:-1], n, n)
    rows, columns = _C.tril_indices(n, n, diag, device=vec.device)
    matrix[..., rows, columns] = vec
    return matrix


def _eps(tensor):
    from rushlight._type_info import finfo

    return finfo(tensor.dtype).eps


def _standard_normal(shape, dtype, device):
    return _C.normal(
        _C.zeros(shape, dtype=dtype, device=device), _C.ones(shape, dtype=dtype, device=device)
    )


def _sum_rightmost(value, dim):
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape(*value.shape[: value.dim() - dim], -1).sum(-1)
