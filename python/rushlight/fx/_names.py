"""Torch's names of functions and types in generated code and graphs, and what they mean here.

Note: a name is written into code only if it leads back to the very object (`resolve`); anything
else reaches the code as a global of its own.
"""

import builtins
import functools
import importlib
import sys
import types

import rushlight
from rushlight._serialization.names import torch_module

# F's functions that torch has in C++, in torch._C._nn; it calls one of them by another name.
_OF_C_NN = frozenset(
    "avg_pool2d avg_pool3d elu_ gelu hardtanh_ leaky_relu_ linear logsigmoid one_hot "
    "scaled_dot_product_attention softplus softshrink".split()
)
_OF_FUNCTIONAL = frozenset(
    "align_tensors atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod "
    "cdist chain_matmul einsum lu meshgrid norm split stft tensordot unique unique_consecutive "
    "unravel_index".split()
)


def module_of(thing):
    """The module of a function or class, by torch's name; "" if it has none."""
    module = getattr(thing, "__module__", None) or ""
    return torch_module(module) or module


def is_ours(thing):
    """Whether it is torch's, so that code can name it torch.something."""
    return not isinstance(thing, types.ModuleType) and f"{module_of(thing)}.".startswith("torch.")


def resolve(name):
    """The object that torch's dotted name means; None if there is none."""
    first, *rest = name.split(".")
    if first != "torch":
        return None
    value = rushlight
    for part in rest:
        try:
            value = getattr(value, part)
        except AttributeError:
            if not isinstance(value, types.ModuleType):
                return None
            try:
                value = importlib.import_module(f"{value.__name__}.{part}")
            except ImportError:
                return None
    return value


@functools.lru_cache(maxsize=4096)
def _name_of_ours(module, name, thing):
    """Where torch has it, of the paths by which it can be reached."""
    public = module.partition("._")[0]  # what a module of ours with an underscore makes for
    paths = [module] if public == module else [public, "torch", "torch.nn.functional", module]
    if module == "torch.nn.functional" and name in _OF_C_NN:
        paths.insert(0, "torch._C._nn")
    if module == "torch" and name in _OF_FUNCTIONAL:
        paths.insert(0, "torch.functional")
    for path in dict.fromkeys([*paths, "torch", "torch.nn.functional"]):
        if resolve(f"{path}.{name}") is thing:
            return f"{path}.{name}"
    return f"{module}.{name}"


def qualified_name(function):
    """The dotted name of a function as torch prints it: operator.add, torch.nn.functional.relu."""
    name = getattr(function, "__name__", None)
    if name is None:
        raise RuntimeError(f"{function!r} has no name: a call of it cannot be part of a graph")
    if getattr(builtins, name, None) is function:
        return name
    if isinstance(function, types.MethodDescriptorType | types.WrapperDescriptorType):
        owner = function.__objclass__
        if owner in rushlight.Tensor.__mro__:
            return f"torch.Tensor.{name}"
        return f"{module_of(owner)}.{owner.__qualname__}.{name}"
    module = module_of(function)
    if module in ("_operator", "operator"):
        return f"_operator.{name}"
    if module.startswith("torch.") or module == "torch":
        try:
            return _name_of_ours(module, name, function)
        except TypeError:  # no hash
            return f"{module}.{name}"
    return f"{module}.{name}" if module else name


def pretty_target(target):
    """A node's target as graphs print it."""
    if isinstance(target, str):
        return target
    if getattr(target, "__module__", None) == "builtins":
        return f"builtins.{target.__name__}"
    if not hasattr(target, "__name__"):
        return repr(target)
    name = qualified_name(target)
    return name.removeprefix("_") if name.startswith("_operator.") else name


def type_repr(thing):
    """The text of a type in an annotation."""
    if isinstance(thing, type) and not isinstance(thing, types.GenericAlias):
        if thing.__module__ == "builtins":
            return thing.__qualname__
        return f"{module_of(thing)}.{thing.__qualname__}"
    if thing is ...:
        return "..."
    if isinstance(thing, types.FunctionType):
        return thing.__name__
    return repr(thing).replace("rushlight.", "torch.")


def module_named(name):
    """A module by torch's name or its own, for the import lines of a saved program."""
    from rushlight._serialization.names import _TORCH_TO_RUSHLIGHT, _renamed

    ours = _renamed(name, _TORCH_TO_RUSHLIGHT) or name
    return sys.modules.get(ours) or importlib.import_module(ours)
