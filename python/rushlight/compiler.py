"""torch.compiler: what programs call of a compiler. There is none: code runs as it is written."""

__all__ = ["disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset"]


def is_compiling() -> bool:
    """False: nothing is ever compiled.

    >>> torch.compiler.is_compiling()
    False
    """
    return False


def is_dynamo_compiling() -> bool:
    """False: nothing is ever compiled.

    >>> torch.compiler.is_dynamo_compiling()
    False
    """
    return False


def is_exporting() -> bool:
    """False: nothing is ever exported.

    >>> torch.compiler.is_exporting()
    False
    """
    return False


def disable(fn=None, recursive=True, *, reason=None):
    """Returns the function as it is: there is no compiler to keep away from it.

    Args:
        fn: the function; None for a decorator.
        recursive, reason: have no effect.

    >>> torch.compiler.disable(abs)(-1)
    1
    """
    return fn if fn is not None else lambda function: function


def reset() -> None:
    """Has no effect: there are no compiled functions to forget.

    >>> torch.compiler.reset()
    """


def compile(model=None, **options):
    """Returns the model or function itself: there is no compiler here, and results are the same.

    Args:
        model: a module or function; None for a decorator.
        **options: have no effect.

    >>> square = torch.compile(lambda x: x * x)
    >>> square(torch.tensor(3.0))
    tensor(9.)
    """
    if model is None:
        return lambda function: function
    return model
