"""torch.utils: its parts are loaded at first use."""

from rushlight import _table

_PARTS = (
    "_contextlib", "_pytree", "benchmark", "checkpoint", "data", "deterministic", "dlpack", "hooks",
    "model_zoo", "tensorboard", "weak",
)  # fmt: skip


def set_module(obj, mod):
    """Sets which module a class or function says that it is of.

    Args:
        obj: the class or function.
        mod: the name of the module.

    Raises:
        TypeError: if the name is no str.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def swap_tensors(t1, t2):
    """Exchanges two tensors: each object has the other's values, history, class and attributes.

    Raises:
        TypeError: if one is no tensor, or their classes cannot be exchanged.
        RuntimeError: if there are weak references to one.

    >>> a, b = torch.zeros(2), torch.ones(3)
    >>> torch.utils.swap_tensors(a, b)
    >>> a, b
    (tensor([1., 1., 1.]), tensor([0., 0.]))
    """
    import weakref

    from rushlight import _C

    for name, tensor in (("t1", t1), ("t2", t2)):
        if not isinstance(tensor, _C.Tensor):
            raise TypeError(
                f"swap_tensors(): argument '{name}' must be Tensor, not {type(tensor).__name__}"
            )
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    first, second = type(t1), type(t2)
    if first is not second:
        t1.__class__ = second
        try:
            t2.__class__ = first
        except TypeError:
            t1.__class__ = first
            raise
    of_first, of_second = dict(t1.__dict__), dict(t2.__dict__)
    for tensor, attributes in ((t1, of_second), (t2, of_first)):
        tensor.__dict__.clear()
        tensor.__dict__.update(attributes)
    _C._swap_bodies(t1, t2)


def __getattr__(name):
    if name in _PARTS:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    from rushlight._importable import find

    return find(__name__, name)
