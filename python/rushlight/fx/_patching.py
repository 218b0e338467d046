"""What is changed in modules and classes while a program is traced, and changed back afterwards."""

import builtins

_absent = object()
_wrapped_fns_to_patch: dict = {}  # (id of the globals, name) -> the globals
_wrapped_methods_to_patch: list = []  # (class, name)


class Patcher:
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

    def item(self, frame, name, new):
        """Puts `new` into a dict."""
        if (id(frame), name) in self._seen:
            return
        self._seen.add((id(frame), name))
        old = frame.get(name, _absent)
        self._undo.append(
            lambda: frame.pop(name, None) if old is _absent else frame.__setitem__(name, old)
        )
        frame[name] = new

    def method(self, cls, name, new):
        """Puts `new` into a class."""
        if (id(cls), name) in self._seen:
            return
        self._seen.add((id(cls), name))
        old = cls.__dict__.get(name, _absent)
        self._undo.append(lambda: delattr(cls, name) if old is _absent else setattr(cls, name, old))
        setattr(cls, name, new)

    def seen(self, thing):
        """Whether this is the second question about it."""
        known = id(thing) in self._seen
        self._seen.add(id(thing))
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


def patch_wrapped(patcher):
    """Has all that wrap() named be recorded."""
    for (_, name), frame in _wrapped_fns_to_patch.copy().items():
        original = frame.get(name) or getattr(builtins, name, None)
        if original is not None:
            patcher.item(frame, name, recorded_function(original))
    for cls, name in _wrapped_methods_to_patch:
        patcher.method(cls, name, recorded_method(cls, name))


def patch_autowrapped(patcher, frame, function_ids):
    """Has functions be recorded that the tracer was given, where a dict of globals has them."""
    if patcher.seen(frame):
        return
    for name, value in list(frame.items()):
        if not name.startswith("_") and callable(value) and id(value) in function_ids:
            patcher.item(frame, name, recorded_function(value))
