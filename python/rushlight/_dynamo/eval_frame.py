"""OptimizedModule: what torch.compile(module) returns."""

from collections.abc import Sized

from rushlight.nn.modules.module import Module


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)


class OptimizedModule(Module):
    """Holds a module as `_orig_mod`, which gives its state_dict the keys of a compiled module's.

    Nothing is compiled: a call is the module's own. Attributes are the module's, read or set.

    Args:
        mod: the module.

    >>> list(torch.compile(torch.nn.Linear(1, 1)).state_dict())
    ['_orig_mod.weight', '_orig_mod.bias']
    """

    def __init__(self, mod):
        super().__init__()
        Module.__setattr__(self, "_orig_mod", mod)

    def forward(self, *args, **kwargs):
        return self._orig_mod(*args, **kwargs)

    @property
    def training(self):
        return self._orig_mod.training

    @training.setter
    def training(self, mode):
        self._orig_mod.training = mode

    def __getattr__(self, name):
        modules = self.__dict__.get("_modules", {})
        if "_orig_mod" not in modules or name == "_orig_mod":
            return super().__getattr__(name)
        return getattr(modules["_orig_mod"], name)

    def __setattr__(self, name, value):
        if name in self.__dict__ or name in vars(OptimizedModule) or name == "_orig_mod":
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        if name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __len__(self):
        if not isinstance(self._orig_mod, Sized):
            raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")
        return len(self._orig_mod)

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._orig_mod)})
