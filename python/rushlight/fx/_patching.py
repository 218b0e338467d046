"""What is changed in modules and classes while a program is traced, and changed back afterwards."""

import builtins

_absent = object()
_wrapped_fns_to_patch: dict = {}  # (id of the globals, name) -> the globals
_wrapped_methods_to_patch: list = []  # (class, name)


class _Patcher:
    """Changes attributes and dict entries for the length of a `with` block, each once."""

    def __init__(self):
        self._undo: list = []
        self._seen: set = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        while self._undo:
            self._undo.pop()()
        self._seen.clear()

    def patch(self, frame_dict, name, new_fn, deduplicate=True):
        """Puts a function into a dict."""
        old = frame_dict.get(name, _absent)
        if deduplicate and self._second((id(frame_dict), name)):
            return
        self._undo.append(
            lambda: (
                frame_dict.pop(name, None) if old is _absent else frame_dict.__setitem__(name, old)
            )
        )
        frame_dict[name] = new_fn

    def patch_method(self, cls, name, new_fn, deduplicate=True):
        """Puts a method into a class."""
        old = cls.__dict__.get(name, _absent)
        if deduplicate and self._second((id(cls), name)):
            return
        self._undo.append(lambda: delattr(cls, name) if old is _absent else setattr(cls, name, old))
        setattr(cls, name, new_fn)

    def visit_once(self, thing):
        """Whether this is the first question about it."""
        return not self._second(id(thing))

    def _second(self, key):
        known = key in self._seen
        self._seen.add(key)
        return known


def find_proxy(*arguments):
    """The first Proxy in arguments, or None."""
    from rushlight.fx.node import map_aggregate
    from rushlight.fx.proxy import Proxy

    found = []

    def look(value):
        if isinstance(value, Proxy):
            found.append(value)

    map_aggregate(arguments, look)
    return found[0] if found else None


def recorded_function(original):
    """The function, which is recorded as one call where an argument is a Proxy."""
    from functools import wraps

    def recorded(*args, **kwargs):
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", original, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    try:
        return wraps(original)(recorded)
    except (AttributeError, TypeError):
        return recorded


def recorded_method(cls, name):
    """The method of a class, which is recorded where an argument is a Proxy."""
    original = getattr(cls, name)

    def recorded(*args, **kwargs):
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return recorded


def _patch_wrapped_functions(patcher):
    """Has all that wrap() named be recorded."""
    for (_, name), frame in _wrapped_fns_to_patch.copy().items():
        original = frame.get(name) or getattr(builtins, name, None)
        if original is not None:
            patcher.patch(frame, name, recorded_function(original))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, recorded_method(cls, name))


def _autowrap_check(patcher, frame_dict, function_ids):
    """Has functions be recorded that the tracer was given, where a dict of globals has them."""
    if not patcher.visit_once(frame_dict):
        return
    for name, value in list(frame_dict.items()):
        if not name.startswith("_") and callable(value) and id(value) in function_ids:
            patcher.patch(frame_dict, name, recorded_function(value))
