"""ParameterList and ParameterDict: parameters held by position or by name.

Values that are no tensors are kept as plain attributes, as torch keeps them.
"""

import operator
from collections import OrderedDict
from collections.abc import Mapping

from rushlight import _C
from rushlight.nn.modules.module import Module, _typename
from rushlight.nn.parameter import Parameter

HOME = "rushlight.nn.modules.container"


def _as_parameter(value):
    if isinstance(value, _C.Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _line(key, value, type_of):
    if not isinstance(value, _C.Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    size = "x".join(str(n) for n in value.size())
    where = f" ({value.device})" if value.device.type == "cuda" else ""
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {kind} containing: [{type_of(value)} of size {size}{where}]"


class ParameterList(Module):
    """A list whose tensors are parameters of the module that holds it.

    Args:
        values: an iterable; tensors in it become parameters.

    >>> weights = torch.nn.ParameterList([torch.ones(2), torch.zeros(3)])
    >>> weights
    ParameterList(
        (0): Parameter containing: [torch.float32 of size 2]
        (1): Parameter containing: [torch.float32 of size 3]
    )
    """

    __module__ = HOME

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _key(self, index):
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index % len(self))

    def __getitem__(self, index):
        if isinstance(index, slice):
            new = type(self)()
            for i in range(*index.indices(len(self))):
                new.append(self[i])
            return new
        return getattr(self, self._key(index))

    def __setitem__(self, index, value):
        return setattr(self, self._key(index), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def append(self, value):
        """Appends `value`; returns the list."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values):
        """Appends all `values` of an iterable; returns the list."""
        if not hasattr(values, "__iter__") or isinstance(values, _C.Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                + type(values).__name__
            )
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        lines = [_line(i, value, lambda v: v.dtype) for i, value in enumerate(self)]
        return "\n".join(lines)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary whose tensors are parameters of the module that holds it.

    Args:
        parameters: a mapping, or an iterable of (name, value) pairs.

    >>> weights = torch.nn.ParameterDict({"left": torch.ones(2)})
    >>> weights["left"]
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __module__ = HOME

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return getattr(self, str(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, str(key), _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, str(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """The (name, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self):
        """The values."""
        return (self[key] for key in self._keys)

    def get(self, key, default=None):
        """The value of `key`, or `default`."""
        if key not in self:
            return default
        return self[key]

    def setdefault(self, key, default=None):
        """The value of `key`, which becomes `default` when there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key):
        """Removes `key` and returns its value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Removes and returns the last pair."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self):
        """Removes everything."""
        for key in list(self._keys):
            del self[key]

    def copy(self):
        """A new ParameterDict with the same values."""
        return ParameterDict(OrderedDict(self.items()))  # a plain dict's names would be sorted

    @classmethod
    def fromkeys(cls, keys, default=None):
        """A new ParameterDict in which all `keys` have the value `default`."""
        return cls(dict.fromkeys(keys, default))

    def update(self, parameters):
        """Adds `parameters`: a mapping, or an iterable of (name, value) pairs; those of a plain
        dict by their names, as torch does."""
        if not hasattr(parameters, "__iter__"):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but "
                "got " + type(parameters).__name__
            )
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs = sorted(pairs)
        for i, pair in enumerate(pairs):
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(
                    f"ParameterDict update sequence element #{i} has length {len(pair)}; "
                    "2 is required"
                )
            self[pair[0]] = pair[1]

    def extra_repr(self):
        return "\n".join(_line(key, value, _typename) for key, value in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other):
        new = self.copy()
        new.update(other)
        return new

    def __ror__(self, other):
        new = other.copy()
        new.update(self)
        return new

    def __ior__(self, other):
        self.update(other)
        return self
