"""Where a module keeps parameters, buffers and submodules.

Every value lives twice: in the module's own __dict__, where CPython finds `self.weight` in a few
nanoseconds and no __getattr__ is needed, and here, in order. Writing here writes there.
"""

import weakref

KINDS = ("_parameters", "_buffers", "_modules")


def show(module, name, value):
    """Makes a registered value an attribute, unless the class has one of that name: torch finds the
    class's (module.parameters stays a method), as Module.__getattr__ comes last there."""
    if not hasattr(type(module), name):
        module.__dict__[name] = value


class Registry(dict):
    """`module._parameters`, `._buffers` or `._modules`; the owner is held weakly (no cycle)."""

    __slots__ = ("_owner",)
    _pytree_type = dict

    def __init__(self, owner, items=()):
        self._owner = owner
        for name, value in dict(items).items():
            self[name] = value

    def __setitem__(self, name, value):
        dict.__setitem__(self, name, value)
        owner = self._owner()
        if owner is not None:
            show(owner, name, value)

    def __delitem__(self, name):
        dict.__delitem__(self, name)
        owner = self._owner()
        if owner is not None:
            owner.__dict__.pop(name, None)

    def pop(self, name, *default):
        value = dict.pop(self, name, *default)
        owner = self._owner()
        if owner is not None:
            owner.__dict__.pop(name, None)
        return value

    def popitem(self, last=True):
        name = next(reversed(self)) if last else next(iter(self))
        return name, self.pop(name)

    def clear(self):
        for name in list(self):
            del self[name]

    def update(self, *args, **kwargs):
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __ior__(self, other):  # type: ignore[misc]
        self.update(other)
        return self

    def setdefault(self, name, default=None):
        if name not in self:
            self[name] = default
        return self[name]

    def move_to_end(self, name, last=True):
        order = [key for key in self if key != name]
        order.insert(len(order) if last else 0, name)
        items = {key: self[key] for key in order}
        dict.clear(self)
        dict.update(self, items)

    def __reduce__(self):
        """Copies and pickles are plain dicts: only a module makes a registry."""
        return dict, (), None, None, iter(self.items())


def replace(module, kind, items):
    """Makes the items all that the module has of a kind."""
    own = module.__dict__
    for old in own.get(kind, ()):
        own.pop(old, None)
    own[kind] = Registry(weakref.ref(module), items)


class Replaceable:
    """`module._parameters = {...}` in classes whose __setattr__ is not Module's."""

    def __init__(self, kind):
        self.kind = kind

    def __get__(self, module, kind=None):
        if module is None:
            return self
        try:
            return module.__dict__[self.kind]
        except KeyError:
            raise AttributeError(self.kind) from None

    def __set__(self, module, items):
        replace(module, self.kind, items)
