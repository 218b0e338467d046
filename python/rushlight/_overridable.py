"""The functions and methods that `__torch_function__` is called for, made from the table of
operations: what torch.overrides says of them."""

from __future__ import annotations

import contextlib
import functools
import inspect

import rushlight
from rushlight import _C, Tensor

# The names of torch that the protocol leaves out, with those of tensors.
_IGNORED = """
    arange are_deterministic_algorithms_enabled as_tensor asarray bartlett_window
    blackman_window broadcast_shapes can_cast compile device dtype empty empty_permuted
    empty_strided enable_grad eye finfo from_numpy frombuffer full get_default_device
    get_default_dtype get_deterministic_debug_mode get_device_module
    get_float32_matmul_precision get_num_interop_threads get_num_threads get_printoptions
    get_rng_state hamming_window hann_window iinfo inference_mode initial_seed
    is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_enabled
    is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled
    is_storage is_tensor is_warn_always_enabled kaiser_window layout linspace load logspace
    manual_seed memory_format no_grad normal ones promote_types rand rand_like randint
    randint_like randn randn_like randperm range result_type save scalar_tensor seed
    set_default_device set_default_dtype set_default_tensor_type set_deterministic_debug_mode
    set_flush_denormal set_float32_matmul_precision set_grad_enabled set_num_interop_threads
    set_num_threads set_printoptions set_rng_state set_warn_always tensor tril_indices
    triu_indices typename use_deterministic_algorithms vander vmap zeros
""".split()
_IGNORED_OF_TENSOR = """
    __class__ __delattr__ __delitem__ __dir__ __getattribute__ __hash__ __init__ __iter__ __new__
    __setattr__ _make_subclass _typed_storage as_subclass new new_empty new_empty_strided new_full
    new_ones new_tensor new_zeros stride unflatten
""".split()


@functools.cache
def get_ignored_functions():
    """The public functions that cannot be taken over: a set."""
    found = {getattr(rushlight, name) for name in _IGNORED if hasattr(rushlight, name)}
    return found | {getattr(Tensor, name) for name in _IGNORED_OF_TENSOR if hasattr(Tensor, name)}


def get_default_nowrap_functions():
    """The functions whose results keep their class in Tensor's own `__torch_function__`: a set."""
    return {Tensor._base.__get__, Tensor.grad.__get__}


def _names_of_rows(visible):
    names = set()
    for row in _C._rows():
        forms = [(row["name"], row["visible"]), (row["name"] + "_", row["in_place"])]
        for name, homes in forms:
            if visible in homes:
                names.add(name.removeprefix(f"{visible}_"))
        if {*row["visible"], *row["in_place"]} & {visible}:
            names.update(row["aliases"])
    return names


def _namespaces():
    import rushlight.nn.functional
    from rushlight import _index, _table

    for module, visible, lazy in (
        (rushlight, "torch", _index.TORCH),
        (rushlight.nn.functional, "nn.functional", _index.FUNCTIONAL),
        (rushlight.linalg, "linalg", _index.LINALG),
        (rushlight.special, "special", _index.SPECIAL),
    ):
        names = _names_of_rows(visible) | set(_table.names(lazy))
        yield module, "torch" if visible == "torch" else f"torch.{visible}", names


@functools.cache
def _overridable():
    """(namespace -> its functions, function -> its name)."""
    ignored = get_ignored_functions()
    functions, names = {}, {}

    def add(key, function, name):
        if function in names:
            return
        names[function] = name  # also of those that cannot be taken over, as torch has it
        if function not in ignored:
            functions.setdefault(key, []).append(function)

    for module, path, members in _namespaces():
        for name in sorted(members):
            if callable(function := getattr(module, name, None)) and not name.startswith("_"):
                add(module, function, f"{path}.{name}")
    for name, member in sorted(vars(Tensor).items()):
        if inspect.isgetsetdescriptor(member):
            if name != "__dict__":
                add(member, member.__get__, f"torch.Tensor.{name}.__get__")
        elif callable(member) and not isinstance(member, (staticmethod, classmethod)):
            add(Tensor, member, f"torch.Tensor.{name}")
    return functions, names


def get_overridable_functions():
    """The functions that can be taken over: a dict, module, class or property -> list."""
    return {key: list(functions) for key, functions in _overridable()[0].items()}


def resolve_name(f):
    """The name of a function of tensors, as programs write it; None of any other.

    Args:
        f: a function, a method of Tensor, or `Tensor.shape.__get__` and its like.

    >>> torch.overrides.resolve_name(torch.Tensor.add)
    'torch.Tensor.add'
    """
    try:
        return _overridable()[1].get(f)
    except TypeError:  # not hashable
        return None


def is_tensor_method_or_property(func):
    """Whether it is a method of Tensor, or what reads a property of it.

    Args:
        func: a function that `__torch_function__` was given.
    """
    if func.__name__ == "__get__":
        return True
    name = resolve_name(func) or ""
    return name.startswith("torch.Tensor.") and func not in get_ignored_functions()


def _dummy(function):
    """A function of the same parameters that returns -1."""

    def dummy(*args, **kwargs):
        return -1

    with contextlib.suppress(TypeError, ValueError):
        dummy.__signature__ = inspect.signature(function)
    return dummy


@functools.cache
def get_testing_overrides():
    """Each function that can be taken over -> one of the same parameters that returns -1."""
    groups = get_overridable_functions().values()
    return {function: _dummy(function) for group in groups for function in group}
