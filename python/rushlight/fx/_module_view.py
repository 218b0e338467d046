"""Where a traced module has its parameters, buffers and constants."""

from rushlight import _C
from rushlight.nn import Module, Parameter

_KINDS = ("_parameters", "_buffers", "_modules")


class ModuleView:
    """Finds the qualified names of modules and parameters by identity, and caches them."""

    def __init__(self, root):
        self.root = root
        self.parameters: dict = {}
        self.buffers: dict = {}
        self.constants = dict(_constants(root))

    def _find(self, known, named, value):
        if id(value) not in known:
            known.clear()
            for name, each in named():
                known.setdefault(id(each), (name, each))
        return known.get(id(value), (None,))[0]

    def parameter_name(self, value):
        """Its name in the root module, or None."""
        return self._find(self.parameters, self.root.named_parameters, value)

    def buffer_name(self, value):
        """Its name in the root module, or None."""
        return self._find(self.buffers, self.root.named_buffers, value)

    def constant_name(self, value):
        """The attribute that holds it, or None."""
        return self.constants.get(id(value), (None,))[0]

    def keep_constant(self, name, value):
        """Knows the attribute of a constant from now on."""
        self.constants[id(value)] = (name, value)

    @staticmethod
    def registers(module, name):
        """Whether it is a parameter, buffer or submodule, not a plain attribute."""
        own = object.__getattribute__(module, "__dict__")
        return any(name in own.get(kind, ()) for kind in _KINDS)


def _constants(module, prefix=""):
    """The tensors that are plain attributes: id -> (name, tensor)."""
    for name, value in list(vars(module).items()):
        plain = isinstance(value, _C.Tensor) and not isinstance(value, Parameter)
        if plain and not ModuleView.registers(module, name):
            yield id(value), (prefix + name, value)
    for name, child in module.named_children():
        if isinstance(child, Module):
            yield from _constants(child, f"{prefix}{name}.")
