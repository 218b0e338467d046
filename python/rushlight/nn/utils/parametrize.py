"""Parametrizations: a parameter or buffer that is computed from others whenever it is read.

Note: a parametrized module gets a class of its own, with a property for each such tensor. The class
is made anew when a name comes or goes, so that copies of a module are independent.
"""

from collections.abc import Sequence
from contextlib import contextmanager
from copy import deepcopy

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.nn.modules.container import ModuleDict, ModuleList
from rushlight.nn.parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]  # fmt: skip

_cache = {}  # (id of a module, name) -> tensor, within cached()
_blocks = 0  # how many cached() one is in


@contextmanager
def cached():
    """A block in which every parametrized tensor is computed once only.

    >>> with torch.nn.utils.parametrize.cached():
    ...     pass
    """
    global _blocks
    _blocks += 1
    try:
        yield
    finally:
        _blocks -= 1
        if not _blocks:
            _cache.clear()


def _register(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_kept(what, before, after, owner="the"):
    """A parametrization gives a tensor, of the dtype and shape that it had."""
    if not isinstance(after, _C.Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for kind in ("dtype", "shape"):
        old, new = getattr(before, kind), getattr(after, kind)
        if old != new:
            raise ValueError(
                f"Registering a parametrization may not change the {kind} of the tensor, unless "
                f"{owner}`unsafe` flag is enabled.\n{what[0]}{kind}: {old}\n{what[1]}{kind}: {new}"
            )


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in order, and what the first is computed from.

    That is `original`, or `original0`, `original1`, ... if the first one's `right_inverse` gives
    several tensors.

    Args:
        modules: the parametrizations.
        original: the tensor as it was.
        unsafe: they may change its dtype and shape.

    Shape: the parametrizations keep the shape, unless `unsafe`.

    Raises:
        ValueError: for a `right_inverse` or a result that does not fit.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(1, 1))
    >>> type(layer.parametrizations.weight).__name__
    'ParametrizationList'
    """

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.detach()
        new = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        continue
        if not isinstance(new, _C.Tensor | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, _C.Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            for kind in ("dtype", "device"):
                if getattr(new, kind) != getattr(original, kind):
                    raise ValueError(
                        f"When `right_inverse` outputs one tensor, it may not change the {kind}.\n"
                        f"original.{kind}: {getattr(original, kind)}\n"
                        f"right_inverse(original).{kind}: {getattr(new, kind)}"
                    )
            original.data = new.detach()
            _register(self, "original", original)
        else:
            for i, tensor in enumerate(new):
                self._register_one(i, tensor, original)
        if not unsafe:
            _check_kept(("unparametrized ", "parametrized "), before, self(), "")

    def _register_one(self, i, tensor, original):
        if not isinstance(tensor, _C.Tensor):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got element {i} of the sequence with type {type(tensor).__name__}."
            )
        if isinstance(original, Parameter):
            tensor = Parameter(tensor, original.requires_grad)
        tensor.requires_grad_(original.requires_grad)
        _register(self, f"original{i}", tensor)

    def right_inverse(self, value):
        """Sets the originals so that the parametrized tensor becomes `value`.

        Raises:
            RuntimeError: for a parametrization without `right_inverse`.
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    name = type(module).__name__
                    raise RuntimeError(f"parametrization {name} does not implement right_inverse.")
                value = module.right_inverse(value)
        if self.is_tensor:
            if not isinstance(value, _C.Tensor):
                raise ValueError(
                    f"`right_inverse` should return a tensor. Got {type(value).__name__}"
                )
            if value.dtype != self.original.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {value.dtype} "
                    f"while `original` has dtype {self.original.dtype}"
                )
            self.original.data = value.detach()
            return
        if not isinstance(value, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}."
            )
        if len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. "
                f"Got a sequence of length {len(value)}."
            )
        originals = [getattr(self, f"original{i}") for i in range(self.ntensors)]
        for i, (new, old) in enumerate(zip(value, originals, strict=True)):
            if not isinstance(new, _C.Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors. "
                    f"Got element {i} of type {type(new).__name__}."
                )
            if new.dtype != old.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {new.dtype} "
                    f"while `original{i}` has dtype {old.dtype}"
                )
        for new, old in zip(value, originals, strict=True):
            old.data = new.detach()

    def forward(self):
        """The parametrized tensor."""
        if self.is_tensor:
            originals = [self.original]
        else:
            originals = [getattr(self, f"original{i}") for i in range(self.ntensors)]
        first, *others = self
        x = first(*originals)
        for module in others:
            x = module(x)
        return x


def _property(name):
    def read(self):
        if not _blocks:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def write(self, value):
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def _set_class(module, names):
    """Gives a module the class with a property for each name; without names, its own again."""
    base = type_before_parametrizations(module)
    if not names:
        module.__class__ = base
        return

    def refuse(self):
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    def copied(self, memo):
        replica = self.__new__(type(self))
        memo[id(self)] = replica
        replica.__setstate__(deepcopy(base.__getstate__(self), memo))
        return replica

    body = {name: _property(name) for name in names}
    body.update(__getstate__=refuse, _before_parametrizations=base)
    if not hasattr(base, "__deepcopy__"):
        body["__deepcopy__"] = copied
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), body)


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """From now on `module.<tensor_name>` is what `parametrization` makes of it.

    What it is made from stays trainable, as `module.parametrizations.<tensor_name>.original`.

    Args:
        module: the module.
        tensor_name: one of its parameters or buffers.
        parametrization: a module of one tensor; its `right_inverse`, if it has one, gives the
            first value of the original, and lets `module.<tensor_name>` be assigned.
        unsafe: it may change dtype and shape.

    Shape: the parametrization keeps the shape, unless `unsafe`.

    Raises:
        ValueError: for no such tensor, or a parametrization that does not fit it.

    >>> class Positive(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.exp()
    >>> layer = torch.nn.Linear(2, 2)
    >>> torch.nn.utils.parametrize.register_parametrization(layer, "weight", Positive())
    ParametrizedLinear(
      in_features=2, out_features=2, bias=True
      (parametrizations): ModuleDict(
        (weight): ParametrizationList(
          (0): Positive()
        )
      )
    )
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        parametrizations = module.parametrizations[tensor_name]
        parametrizations.append(parametrization)
        parametrizations.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            module.parametrizations = ModuleDict()
        module.parametrizations[tensor_name] = parametrizations
        _set_class(module, list(module.parametrizations))
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _check_next(module, tensor_name, parametrization):
    """A further parametrization, and its inverse, keep dtype and shape."""
    name = f"module.{tensor_name}"
    before = getattr(module, tensor_name)
    after = parametrization(before)
    _check_kept((f"{name}.", f"parametrization({name})."), before, after, "the ")
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, _C.Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}"
        )
    for kind in ("dtype", "shape"):
        if getattr(back, kind) != getattr(before, kind):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {kind} "
                f"as {name}, unless the `unsafe` flag is enabled.\n"
                f"{name}.{kind}: {getattr(before, kind)}\nreturned {kind}: {getattr(back, kind)}"
            )


def is_parametrized(module, tensor_name=None):
    """Whether a module has parametrizations, of this tensor if one is named.

    Args:
        module: the module.
        tensor_name: a parameter or buffer; any if None.

    >>> torch.nn.utils.parametrize.is_parametrized(torch.nn.Linear(1, 1))
    False
    """
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Ends the parametrizations of a tensor.

    Args:
        module: the module; it is returned.
        tensor_name: the tensor.
        leave_parametrized: it keeps its present value; else it becomes its original.

    Shape: the tensor keeps its shape.

    Raises:
        ValueError: it has none, or several originals and is to become one.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(1, 1))
    >>> torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    Linear(in_features=1, out_features=1, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor "
            "that is parametrized in terms of a sequence of tensors."
        )
    del module.parametrizations[tensor_name]
    _set_class(module, list(module.parametrizations))
    if not is_parametrized(module):
        del module.parametrizations
    _register(module, tensor_name, original)
    return module


def type_before_parametrizations(module):
    """The class that a module had before it was parametrized.

    Args:
        module: the module.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(1, 1))
    >>> torch.nn.utils.parametrize.type_before_parametrizations(layer).__name__
    'Linear'
    """
    return getattr(type(module), "_before_parametrizations", type(module))


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Gives a module the parametrizations of another one, and the values of their originals.

    Args:
        from_module: what they come from.
        to_module: what they go to; it is returned. A tensor that it lacks is made.
        tensor_name: only this tensor's.

    Shape: tensors keep their shapes.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(1, 1))
    >>> parametrize = torch.nn.utils.parametrize
    >>> other = parametrize.transfer_parametrizations_and_params(layer, torch.nn.Linear(1, 1))
    >>> torch.equal(other.weight, layer.weight)
    True
    """
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        theirs = from_module.parametrizations[name]
        for parametrization in theirs:
            register_parametrization(to_module, name, parametrization)
        mine = to_module.parametrizations[name]
        for key in (
            ["original"] if mine.is_tensor else [f"original{i}" for i in range(mine.ntensors)]
        ):
            setattr(mine, key, getattr(theirs, key))
    return to_module
