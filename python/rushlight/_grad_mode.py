"""The modes of recording, as contexts and decorators: no_grad, enable_grad, inference_mode."""

from rushlight import _C


class _Mode:
    """A context manager that also decorates functions and generators."""

    def __call__(self, function):
        from rushlight._contextlib import decorated

        return decorated(self, function)

    def clone(self):
        """A fresh context of the same kind, for each call of a decorated function."""
        return type(self)()


class _GradMode(_Mode):
    def __enter__(self):
        self.previous = _C.is_grad_enabled()
        _C._set_grad_enabled(self.wanted)

    def __exit__(self, *error):
        _C._set_grad_enabled(self.previous)


class no_grad(_GradMode):
    """Operations inside are not recorded, so their results need no gradient.

    Args:
        orig_func: what is decorated, in `@torch.no_grad` without parentheses.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    __module__ = "rushlight.autograd.grad_mode"

    wanted = False

    def __new__(cls, orig_func=None):
        self = object.__new__(cls)
        return self if orig_func is None else self(orig_func)

    def __init__(self, orig_func=None):
        pass


class enable_grad(no_grad):
    """Operations inside are recorded, even within no_grad().

    Args:
        orig_func: what is decorated, in `@torch.enable_grad` without parentheses.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    __module__ = "rushlight.autograd.grad_mode"

    wanted = True


class set_grad_enabled(_GradMode):
    """Switches recording on or off: at once, and for a `with` block or a decorated function.

    Args:
        mode: whether to record.

    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    """

    __module__ = "rushlight.autograd.grad_mode"

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}\nmode is {mode!r}: give True or False, or bool(mode)"
            )
        self.previous = _C.is_grad_enabled()
        self.mode = self.wanted = mode
        _C._set_grad_enabled(self.wanted)

    def __call__(self, function):
        _C._set_grad_enabled(self.previous)  # as a decorator it changes nothing outside
        return super().__call__(function)

    def __enter__(self):
        _C._set_grad_enabled(self.wanted)

    def __str__(self):
        return f"torch.autograd.grad_mode.{type(self).__name__}(mode={self.mode})"

    __repr__ = __str__

    def clone(self):
        previous = _C.is_grad_enabled()
        fresh = type(self)(self.mode)
        _C._set_grad_enabled(previous)
        fresh.previous = previous
        return fresh


class inference_mode(_Mode):
    """Like no_grad(), and results can never enter a recorded graph later.

    Args:
        mode: False switches the mode off inside.

    >>> with torch.inference_mode():
    ...     torch.ones(1).is_inference()
    True
    """

    __module__ = "rushlight.autograd.grad_mode"

    def __new__(cls, mode=True):
        self = object.__new__(cls)
        if callable(mode):
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode=True):
        self.mode = bool(mode)

    def __enter__(self):
        self.previous = _C.is_inference_mode_enabled(), _C.is_grad_enabled()
        _C._set_inference_mode(self.mode)
        _C._set_grad_enabled(not self.mode)

    def __exit__(self, *error):
        _C._set_inference_mode(self.previous[0])
        _C._set_grad_enabled(self.previous[1])

    def clone(self):
        return type(self)(self.mode)
