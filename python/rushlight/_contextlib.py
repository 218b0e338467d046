"""A mode as a decorator of functions, generators and classes; loaded on first use."""

import functools
import inspect


def decorated(mode, function):
    """`function` with its body run inside a fresh context of `mode`."""
    if inspect.isclass(function):
        import warnings

        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should "
            "only decorate functions or methods. To preserve the current behavior of class "
            "decoration, you can directly decorate the `__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
        function.__init__ = decorated(mode, function.__init__)
        return function
    if inspect.isgeneratorfunction(function):
        return _generator(mode, function)

    @functools.wraps(function)
    def inside(*args, **kwargs):
        with mode.clone():
            return function(*args, **kwargs)

    return inside


def _generator(mode, function):
    """The mode holds while the generator's own code runs, and not while its user's does."""

    @functools.wraps(function)
    def inside(*args, **kwargs):
        generator = function(*args, **kwargs)
        step, value = generator.send, None
        try:
            while True:
                with mode.clone():
                    item = step(value)
                try:
                    value = yield item
                    step = generator.send
                except GeneratorExit:
                    with mode.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    step, value = generator.throw, error
        except StopIteration as end:
            return end.value

    return inside
