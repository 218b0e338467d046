"""make_fx, by name: it records what reaches torch's dispatcher, which is not here."""

__all__ = ["make_fx"]


def make_fx(f, *args, **kwargs):
    """Not here: it records a function's operations as torch's own dispatcher sees them.

    Args:
        f: the function.
        *args, **kwargs: what torch takes.

    Raises: NotImplementedError.

    >>> torch.fx.experimental.proxy_tensor.make_fx(torch.relu)
    Traceback (most recent call last):
    ...
    NotImplementedError: make_fx() is not in rushlight: it records torch's own ATen operations...
    """
    raise NotImplementedError(
        "make_fx() is not in rushlight: it records torch's own ATen operations\n"
        "torch.fx.symbolic_trace(f) records the functions, methods and modules that f calls"
    )


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
