"""torch.cond: one of two functions, by a condition that may be a tensor."""

from rushlight import Tensor
from rushlight.utils._pytree import tree_leaves

__all__ = ["cond"]


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) if pred else false_fn(*operands).

    Args:
        pred: a bool, a number or a tensor of one element.
        true_fn: a function of the operands.
        false_fn: a function of the operands; in torch, its result must have true_fn's shapes.
        operands: a tuple or list of tensors, or of lists, tuples and dicts of tensors.

    Shape: whatever the functions take and give.

    Raises:
        RuntimeError: if pred is neither, a function is none, or an operand is no tensor.

    >>> torch.cond(torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (torch.ones(2),))
    tensor([2., 2.])
    """
    if not isinstance(pred, (bool, int, float, Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    leaves = tree_leaves(operands)
    if not isinstance(operands, (tuple, list)) or not all(
        isinstance(leaf, Tensor) for leaf in leaves
    ):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only "
            f"consists of tensor leaves, but got {operands}."
        )
    return true_fn(*operands) if pred else false_fn(*operands)
