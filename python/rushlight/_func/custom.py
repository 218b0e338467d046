"""A torch.autograd.Function under vmap(): by its own vmap(), or called for each element."""

from rushlight import Tensor
from rushlight._func.batched import Batched, Level
from rushlight._func.dispatch import stacked
from rushlight.overrides import _get_current_function_mode, _pop_mode_temporarily

_PAGE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def applied(base, cls, args):
    """The result of cls.apply() where an argument has a batch; else NotImplemented. The base class
    is Function.
    """
    level = _get_current_function_mode()
    if not isinstance(level, Level) or not any(type(x) is Batched for x in args):
        return NotImplemented
    with _pop_mode_temporarily():
        return _computed(level, base, cls, args) if level.found(args) else cls.apply(*args)


def _computed(level, base, cls, args):
    if cls.__module__.startswith(("rushlight.", "torch.")):  # the latter by the alias
        return _by_element(level, cls, args)
    if cls.setup_context is base.setup_context:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
            f"jacrev, ...), it must override the setup_context staticmethod. {_PAGE}"
        )
    own = cls.vmap is not base.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            "an overriden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            f"overriden vmap staticmethod to avoid ambiguity. {_PAGE}"
        )
    if own:
        dims = tuple(0 if level.holds(x) else None for x in args)
        info = VmapInfo(level.size, level.randomness)
        return _with_dims(level, *cls.vmap(info, dims, *[level.value(x) for x in args]))
    if not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
            f"override and implement the vmap staticmethod or set generate_vmap_rule=True. {_PAGE}"
        )
    return _by_element(level, cls, args)


def _by_element(level, cls, args):
    rows = [
        cls.apply(*[x._value.select(0, i) if level.holds(x) else x for x in args])
        for i in range(level.size)
    ]
    return stacked(level, rows, cls.__name__)


def _with_dims(level, result, dims):
    if isinstance(result, tuple | list):
        dims = dims if isinstance(dims, tuple | list) else [dims] * len(result)
        return type(result)(_with_dims(level, x, d) for x, d in zip(result, dims, strict=True))
    if not isinstance(result, Tensor) or dims is None:
        return result
    return level.batched(result.movedim(dims, 0))


class VmapInfo:
    """The arguments of the vmap() of a custom function: batch_size and randomness."""

    def __init__(self, batch_size, randomness):
        self.batch_size, self.randomness = batch_size, randomness
