"""Modules that torch.utils.checkpoint runs, as programs with FSDP wrap their layers. Note: a
wrapper is not seen in the keys of a state dictionary, and is in the names that its parents give
parameters.
"""

from abc import ABC, abstractmethod
from enum import Enum, auto
from functools import partial

from rushlight.autograd.graph import save_on_cpu
from rushlight.distributed.fsdp.wrap import lambda_auto_wrap_policy, wrap_children
from rushlight.nn import Module
from rushlight.utils.checkpoint import checkpoint

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = _CHECKPOINT_WRAPPED_MODULE + "."


class CheckpointImpl(Enum):
    """Which form of checkpoint() runs the module: with use_reentrant, or without.

    Args:
        value: the number of a member.

    >>> from torch.distributed.algorithms._checkpoint import checkpoint_wrapper
    >>> checkpoint_wrapper.CheckpointImpl.NO_REENTRANT.name
    'NO_REENTRANT'
    """

    REENTRANT = auto()
    NO_REENTRANT = auto()


def _renamed(state_dict, before, after):
    """Keys that begin with `before` begin with `after` instead."""
    for key in [k for k in state_dict if k.startswith(before)]:
        state_dict[after + key[len(before) :]] = state_dict.pop(key)


class ActivationWrapper(Module, ABC):
    """What wraps a module and passes on its attributes, items and state.

    Args:
        mod: the module.

    >>> from torch.distributed.algorithms._checkpoint import checkpoint_wrapper
    >>> layer = checkpoint_wrapper.checkpoint_wrapper(torch.nn.Linear(2, 3))
    >>> layer.out_features, list(layer.state_dict())
    (3, ['weight', 'bias'])
    """

    def __init__(self, mod):
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(self._post_state_dict_hook)
        self.register_load_state_dict_pre_hook(self._pre_load_state_dict_hook)

    @abstractmethod
    def forward(self, *args, **kwargs):
        """Runs the module in the wrapper's own way."""
        raise ValueError("Subclasses should implement forward().")

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._checkpoint_wrapped_module, name)

    def __getitem__(self, key):
        return self._checkpoint_wrapped_module.__getitem__(key)

    def named_parameters(self, *args, **kwargs):
        """Those of the module, under the names that it gives them."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_CHECKPOINT_PREFIX, ""), parameter

    @staticmethod
    def _post_state_dict_hook(module, state_dict, prefix, *_args):
        _renamed(state_dict, prefix + _CHECKPOINT_PREFIX, prefix)
        return state_dict

    @staticmethod
    def _pre_load_state_dict_hook(module, state_dict, prefix, *_args):
        _renamed(state_dict, prefix, prefix + _CHECKPOINT_PREFIX)


class OffloadWrapper(ActivationWrapper):
    """Keeps what the module saves for backward in the memory of the host.

    Args: as of ActivationWrapper.

    >>> from torch.distributed.algorithms._checkpoint import checkpoint_wrapper
    >>> checkpoint_wrapper.OffloadWrapper(torch.nn.ReLU())(torch.ones(1))
    tensor([1.])
    """

    def forward(self, *args, **kwargs):
        """Runs the module under torch.autograd.graph.save_on_cpu()."""
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """Computes the module a second time in backward instead of keeping what it needs.

    Args:
        mod: the module.
        checkpoint_impl: the form of checkpoint().
        checkpoint_fn: what is called instead of checkpoint(), with the module and its arguments.
        checkpoint_fn_kwargs: further arguments of either function.

    >>> from torch.distributed.algorithms._checkpoint import checkpoint_wrapper
    >>> layer = checkpoint_wrapper.CheckpointWrapper(torch.nn.Linear(2, 3))
    >>> layer(torch.ones(1, 2)).sum().backward()
    >>> layer.weight.grad.shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        mod,
        checkpoint_impl=CheckpointImpl.NO_REENTRANT,
        checkpoint_fn=None,
        **checkpoint_fn_kwargs,
    ):
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            reentrant = checkpoint_impl == CheckpointImpl.REENTRANT
            self.checkpoint_fn = partial(
                checkpoint, use_reentrant=reentrant, **checkpoint_fn_kwargs
            )
        else:
            self.checkpoint_fn = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args, **kwargs):
        """Runs the module under checkpoint()."""
        module = self._checkpoint_wrapped_module
        if self.checkpoint_impl != CheckpointImpl.REENTRANT or not kwargs:
            return self.checkpoint_fn(module, *args, **kwargs)
        names, count = tuple(kwargs), len(args)  # this form takes no keywords, so they travel apart

        def run(*values):
            return module(*values[:count], **dict(zip(names, values[count:], strict=True)))

        return self.checkpoint_fn(run, *args, *kwargs.values())


def offload_wrapper(module):
    """The module in an OffloadWrapper.

    Args:
        module: what is wrapped.

    >>> from torch.distributed.algorithms._checkpoint import checkpoint_wrapper
    >>> checkpoint_wrapper.offload_wrapper(torch.nn.ReLU())(torch.ones(1))
    tensor([1.])
    """
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module,
    checkpoint_impl=CheckpointImpl.NO_REENTRANT,
    checkpoint_fn=None,
    **checkpoint_fn_kwargs,
):
    """The module in a CheckpointWrapper.

    Args:
        module: what is wrapped.
        checkpoint_impl: the form of checkpoint().
        checkpoint_fn: what is called instead of checkpoint().
        checkpoint_fn_kwargs: further arguments of either function.

    >>> from torch.distributed.algorithms._checkpoint import checkpoint_wrapper
    >>> checkpoint_wrapper.checkpoint_wrapper(torch.nn.ReLU())(torch.ones(1))
    tensor([1.])
    """
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model,
    checkpoint_wrapper_fn=checkpoint_wrapper,
    check_fn=lambda _: True,
    auto_wrap_policy=None,
):
    """Wraps modules below a model, in place.

    Args:
        model: it is not wrapped itself.
        checkpoint_wrapper_fn: what makes the wrapper of a module.
        check_fn: says of a module whether it is wrapped.
        auto_wrap_policy: a policy, as of FSDP, instead of check_fn.

    >>> from torch.distributed.algorithms._checkpoint import checkpoint_wrapper
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    >>> checkpoint_wrapper.apply_activation_checkpointing(
    ...     model, check_fn=lambda module: isinstance(module, torch.nn.Linear))
    >>> [type(layer).__name__ for layer in model]
    ['CheckpointWrapper', 'ReLU']
    """
    policy = auto_wrap_policy or partial(lambda_auto_wrap_policy, lambda_fn=check_fn)
    wrap_children(model, policy, checkpoint_wrapper_fn, set())
