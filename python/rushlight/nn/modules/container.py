"""Sequential, ModuleList and ModuleDict: modules that hold modules."""

import operator
from itertools import chain, islice

from rushlight.nn.modules._parameter_containers import ParameterDict, ParameterList
from rushlight.nn.modules.module import Module, _addindent

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _position(length, index):
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length


class _Ordered(Module):
    """What Sequential and ModuleList share: modules named "0", "1", ... ."""

    def _replace_all(self, modules):
        self._modules.clear()
        for i, module in enumerate(modules):
            self.add_module(str(i), module)

    def __getitem__(self, index):
        if isinstance(index, slice):
            items = list(self._modules.items())[index]
            if isinstance(self, Sequential):
                new = type(self)()
                for name, module in items:
                    new.add_module(name, module)
                return new
            return type(self)(module for _, module in items)
        return next(islice(self._modules.values(), _position(len(self), index), None))

    def __setitem__(self, index, module):
        name = next(islice(self._modules, _position(len(self), index), None))
        return setattr(self, name, module)

    def __delitem__(self, index):
        keys = list(self._modules)
        gone = keys[index] if isinstance(index, slice) else [keys[_position(len(self), index)]]
        for name in gone:
            delattr(self, name)
        self._replace_all(list(self._modules.values()))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def append(self, module):
        """Appends `module`; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, index):
        """Removes and returns the module at `index`."""
        module = self[index]
        del self[index]
        return module


class Sequential(_Ordered):
    """Calls its modules one after the other, each with the output of the one before.

    Args:
        *args: modules, or one ordered dictionary of them.

    >>> net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.ReLU())
    >>> net
    Sequential(
      (0): Flatten(start_dim=1, end_dim=-1)
      (1): ReLU()
    )
    >>> net(torch.ones(2, 2, 2)).shape
    torch.Size([2, 4])
    """

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)!s} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)!s} is given."
            )
        for module in list(other):
            self.append(module)
        return self

    def __mul__(self, other):
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return Sequential(*(module for _ in range(other) for module in self))

    __rmul__ = __mul__

    def __imul__(self, other):
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        modules = list(self)
        for _ in range(other - 1):
            for module in modules:
                self.append(module)
        return self

    def insert(self, index, module):
        """Puts `module` before position `index`; returns the container."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        count = len(self)
        if not -count <= index <= count:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index + count if index < 0 else index, module)
        self._replace_all(modules)
        return self

    def extend(self, sequential):
        """Appends all modules of an iterable, here called `sequential`; returns the container."""
        for module in sequential:
            self.append(module)
        return self


class ModuleList(_Ordered):
    """A list whose modules belong to the module that holds it.

    Args:
        modules: an iterable of modules.

    >>> layers = torch.nn.ModuleList([torch.nn.ReLU() for i in range(3)])
    >>> layers
    ModuleList(
      (0-2): 3 x ReLU()
    )
    >>> len(layers.append(torch.nn.Tanh()))
    4
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList(chain(self, other))

    def insert(self, index, module):
        """Puts `module` before position `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._replace_all(modules)

    def extend(self, modules):
        """Appends all `modules` of an iterable; returns the list."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                + type(modules).__name__
            )
        for i, module in enumerate(list(modules), len(self)):
            self.add_module(str(i), module)
        return self

    def __repr__(self):
        """Equal neighbours share a line: "(0-2): 3 x ReLU()"."""
        if not len(self):
            return self._get_name() + "()"
        runs = []
        for i, text in enumerate(repr(module) for module in self):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = []
        for first, last, text in runs:
            head = f"({first}): "
            if first != last:
                head = f"({first}-{last}): {last - first + 1} x "
            lines.append(_addindent(head + text, 2))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary whose modules belong to the module that holds it, in order of insertion.

    Args:
        modules: a mapping, or an iterable of (name, module) pairs.

    >>> choices = torch.nn.ModuleDict({"relu": torch.nn.ReLU(), "tanh": torch.nn.Tanh()})
    >>> choices["relu"](torch.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Removes everything."""
        self._modules.clear()

    def pop(self, key):
        """Removes `key` and returns its module."""
        module = self[key]
        del self[key]
        return module

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """The (name, module) pairs."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Adds `modules`: a mapping, or an iterable of (name, module) pairs."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                + type(modules).__name__
            )
        if hasattr(modules, "items"):
            for name, module in modules.items():
                self[name] = module
            return
        for i, pair in enumerate(modules):
            if not hasattr(pair, "__iter__"):
                raise TypeError(
                    f"ModuleDict update sequence element #{i} should be Iterable; is"
                    + type(pair).__name__
                )
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{i} has length {len(pair)}; 2 is required"
                )
            self[pair[0]] = pair[1]
