"""The names that libraries import from here; those of levels raise (rushlight._importable)."""

from rushlight._C import Tensor
from rushlight.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["Tensor", "tree_flatten", "tree_unflatten"]


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
