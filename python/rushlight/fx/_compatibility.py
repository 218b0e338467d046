"""compatibility: the mark of a public function of torch.fx; here as there it changes nothing."""

__all__ = ["compatibility"]


def compatibility(is_backward_compatible: bool):
    """A decorator that leaves its function as it is.

    Args:
        is_backward_compatible: whether the function's signature will not change.

    >>> @torch.fx._compatibility.compatibility(is_backward_compatible=True)
    ... def f(x):
    ...     return x
    >>> f(3)
    3
    """
    return lambda function: function
