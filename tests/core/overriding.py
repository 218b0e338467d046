"""Classes with `__torch_function__` for the tests of it."""


def name(function):
    return getattr(function, "__name__", str(function))


def kinds(value):
    if isinstance(value, (list, tuple)):
        return [kinds(v) for v in value]
    return type(value).__name__


def recorder(torch, base=object):
    """A class that notes the calls it is given, and returns how they came."""

    class Recorder(base):
        calls = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is not torch.Tensor.__repr__:
                cls.calls.append(func)
            given = {k: kinds(v) for k, v in (kwargs or {}).items()}
            return [name(func), [t.__name__ for t in types], kinds(args), given]

    return Recorder
