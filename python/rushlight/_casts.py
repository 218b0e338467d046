"""casts: autocast's policy for a function that is written in Python.

Those written in C++ are listed where they are bound (csrc/bindings/autocast.h).
"""

import functools

from rushlight import _C


def casts(cpu="none", cuda="none"):
    """Decorates a listed function written in Python: its tensors are cast as the policies say.

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
            return function(*args, **kwargs)

        return listed

    return decorate
