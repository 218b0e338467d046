"""Optimizer: parameter groups, state, and their exchange with torch's files.

`step` runs no hook and no wrapper until one is registered: then an instance attribute `step`
replaces the method.
"""

import functools
import warnings
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from rushlight import _C
from rushlight._grad_mode import enable_grad, set_grad_enabled
from rushlight.nn.modules._hooks import RemovableHandle
from rushlight.nn.parameter import Parameter

__all__ = [
    "Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook",
]  # fmt: skip

_every_pre_hooks = OrderedDict()
_every_post_hooks = OrderedDict()
_living = weakref.WeakSet()  # the optimizers whose step a hook of every optimizer concerns


class _RequiredParameter:
    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()
StateDict = dict[str, Any]
DeviceDict = dict[_C.device | None, _C.Tensor]
ParamsT = Iterable[_C.Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, _C.Tensor]]

# What torch's docstrings of optimizers are made with, as copies of them are.
_params_doc = """params (iterable): iterable of parameters or named_parameters to optimize
            or iterable of dicts defining parameter groups"""
_foreach_doc = """foreach (bool, optional): accepted, and changes nothing (default: None)"""
_fused_doc = """fused (bool, optional): accepted, and changes nothing (default: None)"""
_capturable_doc = """capturable (bool, optional): accepted, and changes nothing (default: False)"""
_differentiable_doc = """differentiable (bool, optional): whether autograd records the step
            (default: False)"""
_maximize_doc = """maximize (bool, optional): maximize the objective instead of minimizing
            (default: False)"""


def check_rate(value):
    """Refuses a tensor of several elements."""
    if isinstance(value, _C.Tensor) and value.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element, got the shape {tuple(value.shape)}")


def checked(value, name, valid=lambda value: value >= 0.0):
    """Refuses a setting that is not valid, by default a negative one, with torch's error text."""
    check_rate(value)
    if not valid(value):
        raise ValueError(f"Invalid {name}: {value}")
    return value


def check_betas(betas):
    """Refuses betas outside [0, 1), and a float beside a tensor."""
    tensors = [beta for beta in (betas[0], betas[1]) if isinstance(beta, _C.Tensor)]
    if len(tensors) == 1:
        raise ValueError("betas must be either both floats or both Tensors")
    if any(beta.numel() != 1 for beta in tensors):
        raise ValueError("Tensor betas must be 1-element")
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_modes(foreach, fused, differentiable):
    """foreach and fused are accepted and change nothing."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_tensors(lr, betas, foreach, capturable):
    """torch's foreach step takes floats, unless it is capturable."""
    if foreach and not capturable:
        for name, value in (("lr", lr), ("betas[0]", betas[0]), ("betas[1]", betas[1])):
            if isinstance(value, _C.Tensor):
                raise ValueError(
                    f"{name} as a Tensor is not supported for capturable=False and foreach=True"
                )


def _use_grad_for_differentiable(func):
    """Decorates step(): gradients are recorded in it where the optimizer says differentiable."""

    @functools.wraps(func)
    def step(self, *args, **kwargs):
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return step


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(fused, foreach), for programs that choose between ways of their own."""
    on_gpus = all(p is None or (type(p) in (_C.Tensor, Parameter) and p.is_cuda) for p in params)
    fused = use_fused and on_gpus and all(p is None or p.is_floating_point() for p in params)
    return (False, False) if differentiable else (fused, not fused and on_gpus)


def _get_value(x):
    """The number of a tensor, or the number."""
    return x.item() if isinstance(x, _C.Tensor) else x


def _stack_if_compiling(x):
    """What is given: nothing is compiled."""
    return x


def _view_as_real(params, *state_and_grads):
    """Puts the parts of complex parameters in their place, in all lists."""
    for i, parameter in enumerate(params):
        if parameter.is_complex():
            for tensors in (params, *state_and_grads):
                tensors[i] = _C.view_as_real(tensors[i])


def _get_scalar_dtype(is_fused=None):
    """The dtype of counters of steps."""
    double = not is_fused and _C.get_default_dtype() == _C.float64
    return _C.float64 if double else _C.float32


def _to_scalar(x):
    """A tensor of one element without dimensions, or the number."""
    return x.squeeze() if isinstance(x, _C.Tensor) and x.dim() != 0 else x


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """A decorator that returns the function: nothing is compiled."""
    return lambda function: function


def _register_for_every(hooks, hook):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    for optimizer in list(_living):
        optimizer._patch_step_function()
    return handle


def register_optimizer_step_pre_hook(hook):
    """Calls a function before each step of every optimizer, those to come too.

    Args:
        hook: called as hook(optimizer, args, kwargs), of which args[0] is the optimizer; it may
            return new (args, kwargs).

    Returns:
        A handle whose remove() ends it.

    >>> watch = torch.optim.optimizer.register_optimizer_step_pre_hook
    >>> handle = watch(lambda optimizer, args, kwargs: None)
    >>> handle.remove()
    """
    return _register_for_every(_every_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Calls a function after each step of every optimizer, those to come too.

    Args:
        hook: called as hook(optimizer, args, kwargs), of which args[0] is the optimizer.

    Returns:
        A handle whose remove() ends it.

    >>> watch = torch.optim.optimizer.register_optimizer_step_post_hook
    >>> handle = watch(lambda optimizer, args, kwargs: None)
    >>> handle.remove()
    """
    return _register_for_every(_every_post_hooks, hook)


class Optimizer:
    """Base class of all optimizers.

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        defaults: the settings of groups that do not give their own.

    Attributes:
        param_groups: a list of dictionaries: "params" and the settings.
        state: for each parameter, what the optimizer remembers.

    >>> w = torch.nn.Parameter(torch.ones(1))
    >>> opt = torch.optim.SGD([{"params": [w], "lr": 0.5}], momentum=0.9)
    >>> opt.param_groups[0]["lr"], opt.param_groups[0]["momentum"]
    (0.5, 0.9)
    """

    _has_shards = False  # whether a parameter is a DTensor

    def __init__(self, params, defaults):
        self.defaults = defaults
        self._start_hooks()
        if isinstance(params, _C.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {params.type()}"
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _start_hooks(self):
        _living.add(self)
        if _every_pre_hooks or _every_post_hooks:
            self._patch_step_function()
        self._optimizer_step_pre_hooks = OrderedDict()
        self._optimizer_step_post_hooks = OrderedDict()
        self._optimizer_state_dict_pre_hooks = OrderedDict()
        self._optimizer_state_dict_post_hooks = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks = OrderedDict()
        self._optimizer_load_state_dict_post_hooks = OrderedDict()

    def __getstate__(self):
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state):
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._start_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    def step(self, closure=None):
        """Changes the parameters by their gradients; subclasses define it.

        Args:
            closure: a function that computes the loss again and returns it.
        """
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        """Clears the gradients; with `set_to_none=False` fills them with 0."""
        for group in self.param_groups:
            if self._has_shards and not set_to_none:
                for grad in self._with_grad(group)[1]:
                    grad.detach().zero_()
            else:
                _C._zero_grad(group["params"], set_to_none)

    def _with_grad(self, group):
        """The group's parameters that have a gradient, and those gradients."""
        params, grads = [], []
        for p in group["params"]:
            grad = p.grad
            if grad is not None:
                params.append(p)
                grads.append(grad)
        return params, grads

    def add_param_group(self, param_group):
        """Adds a group, `param_group`: a dictionary with "params" and the settings that differ."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, _C.Tensor):
            params = [params]
        elif isinstance(params, (set, frozenset)):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        params = list(params)
        named = [isinstance(p, tuple) for p in params]
        if any(named) and not all(named):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        group = dict(param_group)
        if params and all(named):
            group["params"] = [p for _, p in params]
            group["param_names"] = [name for name, _ in params]
        else:
            group["params"] = params
        self._check_group(group)
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            group.setdefault(name, default)
        param_group.update(group)
        self.param_groups.append(param_group)

    def _check_group(self, group):
        params = group["params"]
        for p in params:
            if not isinstance(p, _C.Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    + type(p).__name__
                )
            if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        if any(hasattr(p, "_local_tensor") for p in params):
            self._has_shards = True
        if len({id(p) for p in params}) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information",
                stacklevel=4,
            )
        have = {id(p) for other in self.param_groups for p in other["params"]}
        if any(id(p) in have for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        if self.param_groups and ("param_names" in self.param_groups[0]) != (
            "param_names" in group
        ):
            with_names = "with" if "param_names" in self.param_groups[0] else "without"
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'without' if with_names == 'with' else 'with'} names to the optimizer"
            )

    def state_dict(self):
        """State and groups with each parameter replaced by its index, as torch writes them.

        >>> w = torch.nn.Parameter(torch.ones(1))
        >>> torch.optim.SGD([w], lr=0.1).state_dict()["param_groups"][0]["params"]
        [0]
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        indices = {}
        groups = []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [indices.setdefault(id(p), len(indices)) for p in group["params"]]
            groups.append(packed)
        state = {
            indices[id(key)] if isinstance(key, _C.Tensor) else key: value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict):
        """Restores a `state_dict`, ours or torch's, of an optimizer over parameters of the same
        order.

        Raises: ValueError when the groups do not fit; nothing is changed then.
        """
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        mine, theirs = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(mine) != len(theirs):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(mine, theirs, strict=False)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        params = {
            index: p
            for a, b in zip(mine, theirs, strict=False)
            for index, p in zip(b["params"], a["params"], strict=False)
        }
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = _moved(params[key], value)
            else:
                state[key] = value
        for a, b in zip(mine, theirs, strict=False):
            b["params"] = a["params"]
            if "param_names" in a:
                b["param_names"] = a["param_names"]
            else:
                b.pop("param_names", None)
        self.__setstate__({"state": state, "param_groups": theirs})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _register(self, hooks, hook, prepend=False):
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def _patch_step_function(self):
        """From now on a call of `step` runs the hooks."""
        if "step" in self.__dict__ and getattr(self.step, "_runs_hooks", False):
            return
        inner = self.step

        def step(*args, **kwargs):
            args = (self, *args)  # hooks see those of the method
            hooks = [*_every_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()]
            for hook in hooks:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(
                            f"{inner} must return None or a tuple of (new_args, new_kwargs), but "
                            f"got {changed}."
                        )
                    args, kwargs = changed
            result = inner(*args[1:], **kwargs)
            hooks = [*self._optimizer_step_post_hooks.values(), *_every_post_hooks.values()]
            for hook in hooks:
                hook(self, args, kwargs)
            return result

        step._runs_hooks = True
        self.step = step

    def register_step_pre_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` before each step; it may return new ones."""
        self._patch_step_function()
        return self._register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` after each step."""
        self._patch_step_function()
        return self._register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Calls `hook(optimizer)` before `state_dict`; with `prepend` before the hooks that are
        there.
        """
        return self._register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Calls `hook(optimizer, state_dict)` after `state_dict`; a result replaces the dictionary.
        With `prepend` it runs before the hooks that are there.
        """
        return self._register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Calls `hook(optimizer, state_dict)` before loading; a result replaces the dictionary.
        With `prepend` it runs before the hooks that are there.
        """
        return self._register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Calls `hook(optimizer)` after loading; with `prepend` before the hooks that are there."""
        return self._register(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _moved(param, value, key=None):
    """Loaded state on the parameter's device; "step" stays where it is."""
    if isinstance(value, _C.Tensor):
        if key == "step":
            return value.to(dtype=_C.float32)
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _moved(param, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(param, v) for v in value)
    return value


def evaluate(closure):
    """The loss that a closure returns, computed with gradients."""
    if closure is None:
        return None
    with enable_grad():
        return closure()
