"""read_pickle: reads the pickles that CIFAR is published in, and runs nothing.

A stack machine over the opcodes that build dicts, lists, tuples, text, bytes, ints, floats and
NumPy uint8 arrays, in Python 2's and 3's protocols. A name in the file is compared with five
allowed ones, never looked up. Memory stays within a few times the file.
"""

import hashlib
import os
import struct

kMaxBytes = 1 << 30

# name in the file: what we do when it is called
_names = {
    "numpy.core.multiarray _reconstruct": "array",
    "numpy._core.multiarray _reconstruct": "array",
    "numpy.core.numeric _frombuffer": "frombuffer",
    "numpy._core.numeric _frombuffer": "frombuffer",
    "numpy ndarray": "ndarray",
    "numpy dtype": "dtype",
    "_codecs encode": "encode",
    "__builtin__ bytes": "bytes",
    "builtins bytes": "bytes",
    "builtins bytearray": "bytes",
}


class PickleError(ValueError):
    """A file that is no pickle of the expected kind, or that needs more than data."""


class _Name:
    """An allowed name, as the file refers to it."""

    def __init__(self, role):
        self.role = role


class _Array:
    """An array under construction; `BUILD` fills it."""

    def __init__(self):
        self.value = None


class _Bytes(bytes):
    """Python 2's str: text where text is expected, bytes inside an array."""

    text = None  # decoded once, however often the file refers to it


_mark = object()


def read_pickle(path):
    """The dict that the pickle at `path` holds, and the file's MD5.

    Args:
        path: a file of at most 1 GiB.

    Raises:
        PickleError: another structure, a damaged file, or an attempt to run code.
        OSError: the file cannot be read.
    """
    size = os.path.getsize(path)
    if size > kMaxBytes:
        raise PickleError(f"{path} has {size} bytes: too many for a batch of images")
    with open(path, "rb") as file:
        data = file.read(kMaxBytes)
    try:
        result = _Machine(data).run()
    except PickleError as error:
        raise PickleError(f"{path} cannot be used: {error}") from None
    except (IndexError, struct.error, KeyError, ValueError, TypeError, AttributeError) as error:
        raise PickleError(f"{path} is damaged: {type(error).__name__}: {error}") from None
    except (RecursionError, MemoryError, OverflowError):
        raise PickleError(f"{path} is damaged") from None
    if not isinstance(result, dict):
        raise PickleError(f"{path} holds a {type(result).__name__}, not a dict")
    return result, hashlib.md5(data, usedforsecurity=False).hexdigest()


def _plain(value):
    """A value as it may be in a dict or list of the result."""
    if type(value) is _Bytes:
        if value.text is None:
            value.text = value.decode("latin1")
        return value.text
    if type(value) is _Array:
        if value.value is None:
            raise PickleError("an array without contents")
        return value.value
    if isinstance(value, _Name):
        raise PickleError("a name where data was expected")
    return value


class _Machine:
    """Runs the opcodes of one pickle."""

    def __init__(self, data):
        self.data = data
        self.position = 0
        self.stack = []
        self.memo = {}
        # A file can name the same bytes again and again; what is made of them is counted.
        self.allowance = 4 * len(data) + 65536

    def take(self, count):
        end = self.position + count
        if count < 0 or end > len(self.data):
            raise PickleError("it ends in the middle")
        part = self.data[self.position : end]
        self.position = end
        return part

    def spend(self, count):
        self.allowance -= count
        if self.allowance < 0:
            raise PickleError("it unfolds to much more than its own size")

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def line(self):
        end = self.data.index(b"\n", self.position)
        part = self.data[self.position : end]
        self.position = end + 1
        return part

    def pop(self):
        value = self.stack.pop()
        if value is _mark:
            raise PickleError("a mark where data was expected")
        return value

    def to_mark(self):
        for start in range(len(self.stack) - 1, -1, -1):
            if self.stack[start] is _mark:
                items = self.stack[start + 1 :]
                del self.stack[start:]
                return items
        raise PickleError("no mark")

    def run(self):
        while True:
            code = self.take(1)
            if code == b".":
                return _plain(self.pop())
            step = _steps.get(code)
            if step is None:
                raise PickleError(
                    f"opcode {code!r} at byte {self.position - 1} is none of those that data needs"
                )
            step(self)

    def push(self, value):
        self.stack.append(value)

    def put(self, index):
        # Only what is in the file can be named again, so the memo cannot outgrow it.
        self.memo[index] = self.stack[-1]

    def append(self, items):
        target = self.stack[-1]
        if type(target) is not list:
            raise PickleError("items for what is no list")
        target.extend(_plain(item) for item in items)

    def set_items(self, items):
        target = self.stack[-1]
        if type(target) is not dict or len(items) % 2:
            raise PickleError("items for what is no dict")
        for key, value in zip(items[::2], items[1::2], strict=True):
            key = _plain(key)
            if type(key) is bytes:
                key = key.decode("latin1")
            if type(key) is not str:
                raise PickleError(f"a dict key of type {type(key).__name__}")
            target[key] = _plain(value)

    def name(self, module, name):
        role = _names.get(f"{module} {name}")
        if role is None:
            raise PickleError(
                f"it needs {module}.{name}. Data needs no such name; a file that does may want "
                "to run code, so nothing of it was used"
            )
        self.push(_Name(role))

    def reduce(self):
        arguments, called = self.pop(), self.pop()
        if type(called) is not _Name or type(arguments) is not tuple:
            raise PickleError("a call of a name that is not allowed")
        self.push(_calls[called.role](self, *arguments))

    def build(self):
        state, target = self.pop(), self.stack[-1]
        if type(target) is _Name and target.role == "uint8":
            return  # byte order and alignment: a byte has none
        if type(target) is not _Array or type(state) is not tuple or len(state) != 5:
            raise PickleError("state for what is no array")
        _, shape, kind, is_fortran, raw = state
        if is_fortran:
            raise PickleError("an array in Fortran order")
        target.value = _bytes_as_array(raw, kind, shape)


def _bytes_as_array(raw, kind, shape):
    import numpy

    if type(kind) is not _Name or kind.role != "uint8":
        raise PickleError("an array of another type than uint8")
    if not isinstance(raw, bytes) or type(shape) is not tuple or len(shape) > 8:
        raise PickleError("an array without bytes or shape")
    total = 1
    for size in shape:
        if type(size) is not int or not 0 <= size <= len(raw):
            raise PickleError(f"an array of shape {shape} and {len(raw)} bytes")
        total *= size
    if total != len(raw):
        raise PickleError(f"an array of shape {shape} and {len(raw)} bytes")
    return numpy.frombuffer(raw, dtype=numpy.uint8).reshape(shape)


def _make_array(machine, kind, shape, code):
    if type(kind) is not _Name or kind.role != "ndarray":
        raise PickleError("an array of a class of its own")
    return _Array()


def _make_dtype(machine, code, *_):
    if _plain(code) not in ("u1", "|u1", "uint8"):
        raise PickleError(f"an array of type {_plain(code)!r}; CIFAR has uint8")
    return _Name("uint8")


def _make_frombuffer(machine, raw, kind, shape, order):
    if order != "C":
        raise PickleError("an array in Fortran order")
    result = _Array()
    result.value = _bytes_as_array(raw, kind, shape)
    return result


def _encode(machine, text, coding):
    if type(text) is not str or _plain(coding) not in ("latin1", "latin-1"):
        raise PickleError("bytes in an unknown coding")
    machine.spend(len(text))
    return text.encode("latin1")


def _make_bytes(machine, *arguments):
    if len(arguments) == 1 and isinstance(arguments[0], bytes):
        return arguments[0]
    if arguments:
        raise PickleError("a call of bytes()")
    return b""


def _refuse(*_):
    raise PickleError("a call of what is not called in data")


_calls = {
    "array": _make_array,
    "dtype": _make_dtype,
    "frombuffer": _make_frombuffer,
    "encode": _encode,
    "bytes": _make_bytes,
    "ndarray": _refuse,
    "uint8": _refuse,
}


def _integer(text):
    if len(text) > 20:
        raise PickleError("a number of more than 64 bits")
    if text in (b"00", b"01"):  # protocol 0 writes True and False like this
        return text == b"01"
    return int(text)


def _long(machine, size):
    if size > 8:
        raise PickleError("a number of more than 64 bits")
    machine.push(int.from_bytes(machine.take(size), "little", signed=True))


def _text(machine, size):
    machine.push(machine.take(size).decode("utf-8"))


def _quoted(machine):
    import ast

    literal = machine.line()
    if len(literal) > 10000 or literal[:1] not in (b"'", b'"'):
        raise PickleError("a text literal of another form")
    machine.push(_Bytes(ast.literal_eval("b" + literal.decode("ascii"))))


def _tuple(machine, count):
    items = [machine.pop() for _ in range(count)][::-1]
    machine.push(tuple(items))


def _stack_name(machine):
    name, module = machine.pop(), machine.pop()
    if type(name) is not str or type(module) is not str:
        raise PickleError("a name that is no text")
    machine.name(module, name)


def _items(machine, container, fill):
    items = machine.to_mark()
    machine.push(container)
    fill(machine, items)


_steps = {
    b"\x80": lambda m: m.take(1),
    b"\x95": lambda m: m.take(8),
    b"}": lambda m: m.push({}),
    b"]": lambda m: m.push([]),
    b")": lambda m: m.push(()),
    b"(": lambda m: m.push(_mark),
    b"d": lambda m: _items(m, {}, _Machine.set_items),
    b"l": lambda m: _items(m, [], _Machine.append),
    b"t": lambda m: m.push(tuple(m.to_mark())),
    b"\x85": lambda m: _tuple(m, 1),
    b"\x86": lambda m: _tuple(m, 2),
    b"\x87": lambda m: _tuple(m, 3),
    b"a": lambda m: m.append([m.pop()]),
    b"e": lambda m: m.append(m.to_mark()),
    b"s": lambda m: m.set_items([m.pop(), m.pop()][::-1]),
    b"u": lambda m: m.set_items(m.to_mark()),
    b"N": lambda m: m.push(None),
    b"\x88": lambda m: m.push(True),
    b"\x89": lambda m: m.push(False),
    b"K": lambda m: m.push(m.number("B")),
    b"M": lambda m: m.push(m.number("H")),
    b"J": lambda m: m.push(m.number("i")),
    b"I": lambda m: m.push(_integer(m.line())),
    b"L": lambda m: m.push(_integer(m.line().rstrip(b"L"))),
    b"\x8a": lambda m: _long(m, m.number("B")),
    b"G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
    b"F": lambda m: m.push(float(m.line()[:64])),
    b"U": lambda m: m.push(_Bytes(m.take(m.number("B")))),
    b"T": lambda m: m.push(_Bytes(m.take(m.number("i")))),
    b"S": _quoted,
    b"C": lambda m: m.push(m.take(m.number("B"))),
    b"B": lambda m: m.push(m.take(m.number("I"))),
    b"\x8e": lambda m: m.push(m.take(m.number("Q"))),
    b"\x96": lambda m: m.push(m.take(m.number("Q"))),
    b"\x8c": lambda m: _text(m, m.number("B")),
    b"X": lambda m: _text(m, m.number("I")),
    b"\x8d": lambda m: _text(m, m.number("Q")),
    b"V": lambda m: m.push(m.line().decode("raw-unicode-escape")),
    b"q": lambda m: m.put(m.number("B")),
    b"r": lambda m: m.put(m.number("I")),
    b"p": lambda m: m.put(_integer(m.line())),
    b"\x94": lambda m: m.put(len(m.memo)),
    b"h": lambda m: m.push(m.memo[m.number("B")]),
    b"j": lambda m: m.push(m.memo[m.number("I")]),
    b"g": lambda m: m.push(m.memo[_integer(m.line())]),
    b"c": lambda m: m.name(m.line().decode("ascii"), m.line().decode("ascii")),
    b"\x93": _stack_name,
    b"R": _Machine.reduce,
    b"b": _Machine.build,
}
