"""Which submodules FullyShardedDataParallel wraps: policies, and wrapping by hand."""

from __future__ import annotations

import contextlib

from rushlight.nn.modules.activation import MultiheadAttention
from rushlight.nn.modules.container import ModuleDict, ModuleList

__all__ = [
    "CustomPolicy",
    "ModuleWrapPolicy",
    "always_wrap_policy",
    "enable_wrap",
    "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
    "wrap",
]


def always_wrap_policy(*args, **kwargs) -> bool:
    """Every submodule.

    Args:
        *args, **kwargs: not used.
    """
    return True


def lambda_auto_wrap_policy(module, recurse, nonwrapped_numel, lambda_fn) -> bool:
    """The submodules that a function chooses.

    Args:
        module: a submodule.
        recurse: whether the question is only if to look into it.
        nonwrapped_numel: how many elements its parameters have that are not wrapped yet.
        lambda_fn: from module to bool.
    """
    return recurse or lambda_fn(module)


def transformer_auto_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls) -> bool:
    """The submodules of some classes.

    Args:
        module: as of lambda_auto_wrap_policy.
        recurse: as of lambda_auto_wrap_policy.
        nonwrapped_numel: as of lambda_auto_wrap_policy.
        transformer_layer_cls: the classes.
    """
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(
    module, recurse, nonwrapped_numel, min_num_params=100_000_000, force_leaf_modules=None,
    exclude_wrap_modules=None,
) -> bool:  # fmt: skip
    """The smallest submodules with at least so many elements.

    Args:
        module: as of lambda_auto_wrap_policy.
        recurse: as of lambda_auto_wrap_policy.
        nonwrapped_numel: as of lambda_auto_wrap_policy.
        min_num_params: how many.
        force_leaf_modules: classes that are not looked into; MultiheadAttention by default.
        exclude_wrap_modules: classes that are not wrapped; ModuleList and ModuleDict by default.

    >>> from functools import partial
    >>> policy = partial(size_based_auto_wrap_policy, min_num_params=20000)  # doctest: +SKIP
    """
    leaves = {MultiheadAttention} if force_leaf_modules is None else force_leaf_modules
    excluded = {ModuleList, ModuleDict} if exclude_wrap_modules is None else exclude_wrap_modules
    large = nonwrapped_numel >= min_num_params
    if recurse:
        return large and not isinstance(module, tuple(leaves))
    return large and not isinstance(module, tuple(excluded))


class ModuleWrapPolicy:
    """The submodules of some classes.

    Args:
        module_classes: the classes.

    >>> ModuleWrapPolicy({torch.nn.TransformerEncoderLayer})  # doctest: +SKIP
    """

    def __init__(self, module_classes):
        self._classes = tuple(module_classes)

    def __call__(self, module, recurse, *args, **kwargs):
        return recurse or isinstance(module, self._classes)

    def __repr__(self):
        return f"ModuleWrapPolicy({set(self._classes)})"


class CustomPolicy:
    """The submodules that a function chooses, with arguments of their own if it returns a dict.

    Args:
        lambda_fn: from module to bool or a dict of arguments of FullyShardedDataParallel.
    """

    def __init__(self, lambda_fn):
        self._function = lambda_fn

    def __call__(self, module, recurse, *args, **kwargs):
        return True if recurse else self._function(module)


def wrap_children(module, policy, wrapper, ignored):
    """Wraps what a policy chooses below a module; how many elements are wrapped then."""
    return _wrapped(module, policy, wrapper, ignored, is_root=True)[1]


def _wrapped(module, policy, wrapper, ignored, is_root=False):
    count = sum(p.numel() for p in module.parameters() if id(p) not in ignored)
    if not policy(module=module, recurse=True, nonwrapped_numel=count):
        return module, 0
    total = 0
    for name, child in list(module.named_children()):
        found, inner = _wrapped(child, policy, wrapper, ignored)
        if found is not child:
            setattr(module, name, found)
        total += inner
    if is_root:
        return module, total
    chosen = policy(module=module, recurse=False, nonwrapped_numel=count - total)
    if chosen is False or chosen is None:
        return module, total
    return wrapper(module, **(chosen if isinstance(chosen, dict) else {})), count


_around: list[tuple] = []


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls, **wrapper_kwargs):
    """Within it, wrap() wraps.

    Args:
        wrapper_cls: FullyShardedDataParallel.
        **wrapper_kwargs: its arguments.

    >>> with enable_wrap(wrapper_cls=FullyShardedDataParallel):  # doctest: +SKIP
    ...     layer = wrap(torch.nn.Linear(5, 5))
    """
    _around.append((wrapper_cls, wrapper_kwargs))
    try:
        yield
    finally:
        _around.pop()


def wrap(module, **wrap_overrides):
    """The module wrapped within enable_wrap(), and as it is elsewhere.

    Args:
        module: a module.
        **wrap_overrides: arguments of the wrapper that differ.
    """
    if not _around:
        return module
    wrapper, options = _around[-1]
    return wrapper(module, **{**options, **wrap_overrides})
