"""What a file may name under `weights_only`: data, and the few functions that rebuild tensors.

Note: nothing is ever looked up by name outside the tables here, and each function that a file may
call is a guarded one, which neither makes more memory than the file holds nor hashes what could be
nested without end.
"""

from collections import Counter, OrderedDict

from rushlight import _C
from rushlight._dtype_names import UNTYPED
from rushlight._serialization.names import torch_path

_BLOCKED_MODULES = ("sys", "os", "posix", "nt")
_HASHED_BY_VALUE = frozenset({str, int, float, bool, bytes, complex, type(None)})
_MAX_KEY_PARTS = 500

user_globals = {}  # dotted path in files -> class or function that the program has declared safe


def describe(thing):
    """A short description for an error; never the repr of what a file built, which has no bound."""
    if isinstance(thing, type) or callable(thing):
        return f"{thing!r:.200}"
    return f"an object of {type(thing)}"


class Refused(Exception):
    """A file names something that weights_only does not allow; the text says what."""


def check_key(key):
    """Raises unless ``key`` can be hashed within reasonable time and depth."""
    if type(key) in _HASHED_BY_VALUE:
        return
    pending, parts = [key], 0
    while pending:
        part = pending.pop()
        parts += 1
        if parts > _MAX_KEY_PARTS:
            raise Refused(f"a dict key or set member has more than {_MAX_KEY_PARTS} parts")
        if isinstance(part, tuple | frozenset):
            pending.extend(part)
        elif isinstance(part, list | dict | set | bytearray):
            raise Refused(f"unhashable type: '{type(part).__name__}'")


def _pairs(items):
    if type(items) not in (list, tuple):
        raise Refused(f"a dict was to be made of {type(items).__name__}")
    for pair in items:
        if type(pair) not in (list, tuple) or len(pair) != 2:
            raise Refused("a dict was to be made of something else than pairs")
        check_key(pair[0])
    return items


def _ordered_dict(items=()):
    return OrderedDict(_pairs(items))


def _counter(counts=None):
    if counts is not None and type(counts) is not dict:
        raise Refused(f"a Counter was to be made of {type(counts).__name__}")
    return Counter(counts)


def _set(items=()):
    if type(items) not in (list, tuple, set):
        raise Refused(f"a set was to be made of {type(items).__name__}")
    for item in items:
        check_key(item)
    return set(items)


def _bytearray(content=b"", encoding=None):
    if type(content) is bytes and encoding is None:
        return bytearray(content)
    if type(content) is str and encoding in ("latin-1", "latin1"):
        return bytearray(content, "latin-1")
    raise Refused(f"a bytearray was to be made of {type(content).__name__}")


def _encode(text, encoding):
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise Refused("_codecs.encode is for bytes alone: text to latin1")
    return text.encode("latin-1")


def _complex(real, imag):
    if type(real) is not float or type(imag) is not float:
        raise Refused("a complex number was to be made of something else than floats")
    return complex(real, imag)


def _size(items=()):
    if type(items) not in (tuple, list) or any(type(n) is not int for n in items):
        raise Refused("a torch.Size was to be made of something else than ints")
    return _C.Size(items)


def _device(kind, index=None):
    if type(kind) is not str or type(index) not in (int, type(None)):
        raise Refused("a torch.device was to be made of something else than a type and an index")
    return _C.device(kind) if index is None else _C.device(kind, index)


class Allowed:
    """The tables of one load: `things` by dotted path, `calls` from id(thing) to what is called.

    `makes` holds the ids of the classes whose objects may be created bare and given a state.
    """

    def __init__(self):
        from _codecs import encode

        from rushlight import _tensor, _utils
        from rushlight._storage_types import STORAGE_TYPES
        from rushlight.storage import UntypedStorage

        guarded = {
            "collections.OrderedDict": (OrderedDict, _ordered_dict),
            "collections.Counter": (Counter, _counter),
            "builtins.set": (set, _set),
            "__builtin__.set": (set, _set),
            "builtins.bytearray": (bytearray, _bytearray),
            "__builtin__.bytearray": (bytearray, _bytearray),
            "builtins.complex": (complex, _complex),
            "__builtin__.complex": (complex, _complex),
            "_codecs.encode": (encode, _encode),
            "torch.Size": (_C.Size, _size),
            "torch.serialization._get_layout": (_utils._get_layout, _utils._get_layout),
            "torch.device": (_C.device, _device),
            "torch._tensor._rebuild_from_type_v2": (
                _tensor._rebuild_from_type_v2,
                self._rebuild_from_type,
            ),
        }
        for function in (
            _utils._rebuild_tensor,
            _utils._rebuild_tensor_v2,
            _utils._rebuild_tensor_v3,
            _utils._rebuild_parameter,
            _utils._rebuild_parameter_with_state,
            _utils._rebuild_meta_tensor_no_storage,
            _utils._rebuild_sparse_tensor,
        ):
            guarded[f"torch._utils.{function.__name__}"] = (function, function)
        self.things = {path: thing for path, (thing, _) in guarded.items()}
        self.calls = {id(thing): call for thing, call in guarded.values()}
        self.makes = set()
        self.things["torch.Tensor"] = _C.Tensor
        self.things["torch.storage.UntypedStorage"] = UntypedStorage
        for name, kind in STORAGE_TYPES.items():
            self.things[f"torch.{name}"] = kind
            self.things[str(kind.dtype)] = kind.dtype
        for dtype in UNTYPED.values():
            self.things[str(dtype)] = dtype
        self._tensor_classes = {id(_C.Tensor)}
        for path, thing in user_globals.items():
            self.things.setdefault(path, thing)
            self.calls.setdefault(id(thing), thing)
            if isinstance(thing, type):
                self.makes.add(id(thing))
                if issubclass(thing, _C.Tensor):
                    self._tensor_classes.add(id(thing))

    def find(self, module, name):
        """The thing that a file names, or Refused with a text that says how to allow it."""
        path = f"{module}.{name}"
        if module in _BLOCKED_MODULES:
            raise Refused(
                f"Trying to load unsupported GLOBAL {path} whose module {module} is blocked."
            )
        if path in self.things:
            return self.things[path]
        if path == "torch.nn.parameter.Parameter":
            from rushlight.nn import Parameter  # here, as most files do without torch.nn

            self._tensor_classes.add(id(Parameter))
            self.things[path] = Parameter
            return Parameter
        for builtins in ("builtins.", "__builtin__."):
            path = path.removeprefix(builtins)
        raise Refused(
            f"Unsupported global: GLOBAL {path} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{path}])` or the "
            f"`torch.serialization.safe_globals([{path}])` context manager to allowlist this "
            "global if you trust this class/function."
        )

    def call(self, function, arguments):
        """Calls a function that a file names, if it is allowed."""
        allowed = self.calls.get(id(function))
        if allowed is None:
            raise Refused(f"Trying to call reduce for unrecognized function {describe(function)}")
        if type(arguments) is not tuple:
            raise Refused(f"a call's arguments are {type(arguments).__name__}, not a tuple")
        return allowed(*arguments)

    def make(self, kind, arguments):
        """A bare object of a class that the program has declared safe."""
        if id(kind) not in self.makes or type(arguments) is not tuple:
            raise Refused(
                "Can only create new object for nn.Parameter or classes allowlisted via "
                f"`add_safe_globals` but got {describe(kind)}"
            )
        return kind.__new__(kind, *arguments)

    def build(self, instance, state):
        """Gives an object its state."""
        kind = type(instance)
        if kind is OrderedDict:
            if type(state) is not dict or any(type(name) is not str for name in state):
                raise Refused("the attributes of an OrderedDict are not a dict of names")
            instance.__dict__.update(state)
            return
        if id(kind) not in self.makes:
            raise Refused(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                f"`add_safe_globals`, but got {kind}"
            )
        if hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
            return
        slots = None
        if isinstance(state, tuple) and len(state) == 2:
            state, slots = state
        if state:
            instance.__dict__.update(state)
        for name, value in (slots or {}).items():
            setattr(instance, name, value)

    def _rebuild_from_type(self, function, kind, arguments, state):
        if id(kind) not in self._tensor_classes:
            raise Refused(f"a tensor was to become {describe(kind)}, which is not allowed")
        from rushlight._tensor import _rebuild_from_type_v2

        return _rebuild_from_type_v2(
            lambda *given: self.call(function, given), kind, arguments, state
        )


def add(safe_globals):
    """Adds classes and functions, or pairs (thing, path in files), to what files may name."""
    added = {}
    for item in safe_globals:
        if isinstance(item, tuple):
            if len(item) != 2:
                raise ValueError(
                    "Expected tuple of length 2 (global, str of callable full path), but got "
                    f"tuple of length: {len(item)}"
                )
            thing, path = item
            if type(path) is not str:
                raise TypeError(
                    "Expected second item in tuple to be str of callable full path, but got: "
                    f"{type(path)}"
                )
        else:
            thing, path = item, torch_path(item)
        added[path] = thing
    user_globals.update(added)
    return added
