"""casts: autocast's policy for a function that is written in Python.

Those written in C++ are listed where they are bound (csrc/bindings/autocast.h).
"""

import functools

from rushlight import _C


def casts(cpu="none", cuda="none"):
    """Decorates a listed function written in Python: its tensors are cast as the policies say, and
    the ops that it is made of then compute in what they get.

    Args:
        cpu: on the CPU: "lower" to the region's dtype, "full" to float32, or "none".
        cuda: on GPUs.
    """

    def decorate(function):
        @functools.wraps(function)
        def listed(*args, **kwargs):
            if not _C._autocast_is_on():
                return function(*args, **kwargs)
            args = [_C._recast(a, cpu, cuda) if isinstance(a, _C.Tensor) else a for a in args]
            kwargs = {
                k: _C._recast(a, cpu, cuda) if isinstance(a, _C.Tensor) else a
                for k, a in kwargs.items()
            }
            before = [(name, _C.is_autocast_enabled(name)) for name in ("cpu", "cuda")]
            try:
                for name, _ in before:
                    _C.set_autocast_enabled(name, False)
                return function(*args, **kwargs)
            finally:
                for name, enabled in before:
                    _C.set_autocast_enabled(name, enabled)

        return listed

    return decorate
