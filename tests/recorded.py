"""torch as the judge of a test, and its recorded answers where it is not installed.

A test asks `reference` as it would ask torch. While answers are recorded, each question (an
attribute, a call, an operator) is put to torch and its answer appended to the tape of that test:
numbers, words, shapes, errors and warnings as they are, everything else as "an object". Replayed,
the same questions get the same answers in the same order, and objects are nothing but the next
questions. Of large arrays every n-th element is kept, the others are masked: compare.py leaves them
out. conftest.ask(function) makes one question of all that a function asks: what defines classes, or
functions that torch calls, needs it, and what changes a list or dict of torch's.

Note: a tape fits one sequence of questions. A test that was edited asks others, is
told so, and must be recorded again: python -m tests.record FILE.
"""

import builtins
import collections
import functools
import hashlib
import json
import lzma
import operator
import pathlib
import types
import warnings
import zlib

import numpy
import pytest

FOLDER = pathlib.Path(__file__).parent / "answers"  # one file for each file of tests
DIGEST = "digest"  # beside the names of the tests
SAMPLE = 256  # how many elements of an array are kept that has more than twice as many
MISSING = "torch is not installed, and its answers are not recorded: python -m tests.record FILE"


class Stale(Exception):
    """The test asks something else than it did when its answers were recorded."""


def answers_of(path):
    """The file with the answers of a file of tests."""
    parts = pathlib.Path(path).resolve().relative_to(FOLDER.parent).with_suffix("").parts
    return FOLDER / (".".join(parts) + ".xz")


@functools.cache
def _read(path):
    file = answers_of(path)
    return json.loads(lzma.decompress(file.read_bytes())) if file.exists() else {}


def _digest(path):
    """Of what a file of tests asks: of its text, and of what is beside it and no file of tests."""
    path = pathlib.Path(path).resolve()
    files = {path, *(f for f in path.parent.glob("*.py") if not f.name.startswith("test_"))}
    text = b"".join(f.read_bytes() for f in sorted(files))
    return hashlib.sha256(text).hexdigest()[:16]


def changed(path):
    """Whether a file of tests, or what lies beside it, was edited since torch was asked."""
    return _read(path).get(DIGEST) != _digest(path)


def in_part(path, part):
    """Whether a file belongs to the part "K/N" of all files; K may be any number."""
    k, n = map(int, part.split("/"))
    return zlib.crc32(answers_of(path).name.encode()) % n == k % n


@functools.cache
def load(path):
    """The tapes of a file of tests, by the rest of their names."""
    found = {name: tape for name, tape in _read(path).items() if name != DIGEST}
    return {name: found[t] if isinstance(t, str) else t for name, t in found.items()}


def repeats(path, name):
    """Whether another test of the file has the same questions and answers: on another device."""
    return isinstance(_read(path).get(name), str)


def save(path, tapes, whole=True):
    """Writes them; no file where there is none. If not all are new, the digest stays as it was."""
    file = answers_of(path)
    if not tapes:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(exist_ok=True)
    first, kept = {}, {}  # a tape that equals another is the name of that
    for name, tape in sorted(tapes.items()):
        same_as = first.setdefault(json.dumps(tape), name)
        kept[name] = tape if same_as == name else same_as
    kept[DIGEST] = _digest(path) if whole else _read(path).get(DIGEST)
    text = json.dumps(kept, separators=(",", ":"))
    file.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


class Tape:
    """The questions of the test that runs, [what, answer, warnings], and how many were asked."""

    def __init__(self):
        self.recording = False
        self.events = None
        self.at = 0
        self.inside = False  # torch is at work: what it asks back is not the test's question

    def begin(self, recording, events):
        """A test starts: with an empty list, to record, or with its answers, or None."""
        self.recording, self.events, self.at, self.inside = recording, events, 0, False
        self.objects = []  # in the order of their first answer; an answer names one by its index
        self.known = {}  # while recording: the index of each, by its identity

    def ask(self, what, question):
        """The answer to one question: question() while recording."""
        if self.inside:
            return question()
        if not self.recording:
            return self.replayed(what)
        self.inside = True
        event = [what, None]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                answer = question()
                if isinstance(answer, types.GeneratorType):
                    answer = list(answer)
                event[1], answer = self.encoded(answer)
            except Exception as error:
                text = error.args[0] if isinstance(error, KeyError) else str(error)
                event[1], answer = ["raise", _builtin_type(type(error)), str(text)], error
            finally:
                self.inside = False
        if said:
            event.append([[_builtin_type(each.category), str(each.message)] for each in said])
        self.events.append(event)
        self.warn(event)
        if isinstance(answer, Exception) and event[1][0] == "raise":
            raise answer
        return answer

    def warn(self, event):
        for category, text in event[2] if len(event) > 2 else ():
            warnings.warn(text, getattr(builtins, category), stacklevel=4)

    def replayed(self, what):
        """The next answer, if the question is the recorded one."""
        if self.events is None:
            pytest.fail(MISSING)
        if self.at >= len(self.events) or self.events[self.at][0] != what:
            had = self.events[self.at][0] if self.at < len(self.events) else "the end"
            raise Stale(
                f"question {self.at} is {what!r}, recorded was {had!r}: the test has changed. "
                "Where torch is installed, python -m tests.record FILE"
            )
        self.at += 1
        self.warn(self.events[self.at - 1])
        return self.decoded(self.events[self.at - 1][1])

    def encoded(self, value):
        """(what the tape keeps, what the test gets)."""
        if value is None or type(value) in (bool, int, str):
            return value if value is None else ["=", value], value
        if type(value) is float:
            return ["float", value.hex()], value
        if type(value) is complex:
            return ["complex", value.real.hex(), value.imag.hex()], value
        if type(value) is bytes:
            return ["bytes", value.hex()], value
        if isinstance(value, numpy.ndarray | numpy.generic) and value.dtype.kind != "O":
            array = numpy.asarray(value)
            scalar = isinstance(value, numpy.generic)
            if array.size > 2 * SAMPLE:
                step = array.size // SAMPLE | 1
                data = array.reshape(-1)[::step].tobytes().hex()
                return ["sample", array.dtype.str, array.shape, data, step], value
            return ["array", array.dtype.str, array.shape, array.tobytes().hex(), scalar], value
        if type(value) in (tuple, list) and value and all(type(v) is float for v in value):
            return ["floats", type(value).__name__, numpy.array(value).tobytes().hex()], value
        if type(value) in (tuple, list) and all(type(v) is int for v in value):
            return ["ints", type(value).__name__, list(value)], value
        if type(value) in _SEQUENCES:
            # The order of a set differs from process to process.
            values = sorted(value, key=repr) if type(value) is set else value
            pairs = [self.encoded(each) for each in values]
            made = type(value)(p[1] for p in pairs)
            return [type(value).__name__, [p[0] for p in pairs]], made
        if type(value) in (dict, collections.OrderedDict):
            pairs = [(self.encoded(k), self.encoded(v)) for k, v in value.items()]
            made = type(value)((k[1], v[1]) for k, v in pairs)
            return ["dict", [[k[0], v[0]] for k, v in pairs]], made
        if type(value).__name__ == "Size":
            return ["ints", "tuple", list(map(int, value))], value
        if isinstance(value, type) and getattr(builtins, value.__name__, None) is value:
            return ["type", value.__name__], value
        at = self.known.setdefault(id(value), len(self.objects))
        if at == len(self.objects):
            self.objects.append(Object(value))
        return at, self.objects[at]

    def decoded(self, code):
        if code is None:
            return None
        if isinstance(code, int):
            if code == len(self.objects):
                self.objects.append(Object())
            return self.objects[code]
        kind, *rest = code
        if kind == "=":
            return rest[0]
        if kind == "raise":
            raise getattr(builtins, rest[0])(rest[1])
        if kind == "float":
            return float.fromhex(rest[0])
        if kind == "complex":
            return complex(*map(float.fromhex, rest))
        if kind == "floats":
            return getattr(builtins, rest[0])(numpy.frombuffer(bytes.fromhex(rest[1])).tolist())
        if kind == "ints":
            return getattr(builtins, rest[0])(rest[1])
        if kind == "bytes":
            return bytes.fromhex(rest[0])
        if kind == "array":
            dtype, shape, data, scalar = rest
            array = numpy.frombuffer(bytes.fromhex(data), dtype).reshape(shape).copy()
            return array[()] if scalar else array
        if kind == "sample":
            dtype, shape, data, step = rest
            array = numpy.ma.masked_all(shape, dtype)
            array.data.fill(numpy.nan if array.dtype.kind in "fc" else 0)
            array.reshape(-1)[::step] = numpy.frombuffer(bytes.fromhex(data), dtype)
            return array
        if kind == "type":
            return getattr(builtins, rest[0])
        if kind == "dict":
            return {self.decoded(k): self.decoded(v) for k, v in rest[0]}
        return getattr(builtins, kind)(self.decoded(each) for each in rest[0])


_SEQUENCES = (tuple, list, set)
_NUMBERS = ("array", "sample", "floats", "float", "complex")
TAPE = Tape()


def _builtin_type(kind):
    for base in kind.__mro__:
        if getattr(builtins, base.__name__, None) is base:
            return base.__name__
    return "Exception"


def real(value):
    """What torch is given: its own objects instead of those of the tape."""
    if isinstance(value, Object):
        return value._real
    if type(value) in (tuple, list, set):
        return type(value)(map(real, value))
    if isinstance(value, dict):
        return type(value)((real(k), real(v)) for k, v in value.items())
    if isinstance(value, slice):
        return slice(real(value.start), real(value.stop), real(value.step))
    if isinstance(value, types.FunctionType | types.MethodType):
        return lambda *args, **kwargs: real(value(*args, **kwargs))
    return value


def same(before, now):
    """Whether two tapes agree: their questions exactly, their answers as two processors do. What
    torch warns of only once depends on the tests before."""
    return len(before) == len(now) and all(
        a[0] == b[0] and _same_answer(a[1], b[1]) for a, b in zip(before, now, strict=True)
    )


def _same_answer(before, now):
    if type(before) is not type(now):
        return False
    if not isinstance(before, list):
        return before == now
    if len(before) != len(now):
        return False
    if before and before[0] == now[0] == "bytes":
        return True  # files that torch writes have random ids and addresses in them
    if before and before[0] == now[0] and before[0] in _NUMBERS:
        a, b = (numpy.ma.asarray(TAPE.decoded(code)) for code in (before, now))
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.kind not in "fc":
            return numpy.array_equal(a.data, b.data)
        a, b = a.compressed(), b.compressed()
        return numpy.allclose(a, b, **_precision(a), equal_nan=True)
    return all(map(_same_answer, before, now))


def _precision(values):
    """What two processors may differ by: bits of the narrowest type that holds all the values.

    Without AVX512-BF16 torch rounds parts of a sum to bfloat16: as precise as their largest.
    """
    values = numpy.stack([values.real, values.imag]).astype("float64")
    with numpy.errstate(all="ignore"):
        single = values.astype("float32")
        half = single.astype("float16")
        if not numpy.array_equal(values, single, equal_nan=True):
            return {"rtol": 1e-9, "atol": 1e-9}
        few_bits = numpy.array_equal(single, half, equal_nan=True)
        few_bits = few_bits or not (single.view("uint32") & 0xFFFF).any()  # bfloat16's
        if few_bits and (values % 1).any():
            largest = numpy.abs(values[numpy.isfinite(values)]).max(initial=1)
            return {"rtol": 1e-2, "atol": 1e-2 * largest}
        return {"rtol": 1e-4, "atol": 1e-4}


class Object:
    """Something of torch's that has no form on a tape."""

    __slots__ = ("_real",)

    def __init__(self, value=None):
        object.__setattr__(self, "_real", value)

    def __getattr__(self, name):
        if name.startswith(("_pytest", "pytest", "__")) and name not in ("__name__", "__version__"):
            raise AttributeError(name)  # pytest looks at what a module holds
        return TAPE.ask("." + name, lambda: getattr(self._real, name))

    def __setattr__(self, name, value):
        TAPE.ask(f".{name} =", lambda: setattr(self._real, name, real(value)))

    def __call__(self, *args, **kwargs):
        return TAPE.ask("()", lambda: self._real(*real(args), **real(kwargs)))

    def __iter__(self):
        return iter(TAPE.ask("iter", lambda: list(self._real)))

    def __instancecheck__(self, value):
        if not isinstance(value, Object):
            return False
        return TAPE.ask("isinstance", lambda: isinstance(value._real, self._real))

    def __enter__(self):
        return TAPE.ask("with", lambda: self._real.__enter__())

    def __exit__(self, *error):
        kind = error if error[0] is None else (error[0], error[1], None)
        return TAPE.ask("end with", lambda: self._real.__exit__(*kind))

    def __array__(self, dtype=None, copy=None):
        found = TAPE.ask("array", lambda: numpy.asarray(self._real))
        return found if dtype is None else found.astype(dtype)

    __hash__ = object.__hash__

    def __setitem__(self, index, value):
        TAPE.ask("[] =", lambda: operator.setitem(self._real, real(index), real(value)))

    def __format__(self, spec):
        return TAPE.ask("format", lambda: format(self._real, spec))

    def __dir__(self):
        return TAPE.ask("dir", lambda: dir(self._real))


def _operator(name, function, reflected=False):
    def method(self, *args):
        def question():
            values = (self._real, *map(real, args))
            return function(*(values[::-1] if reflected else values))

        return TAPE.ask(name, question)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or",
              "xor", "lshift", "rshift"):  # fmt: skip
    _function = getattr(operator, f"__{_name}__")
    setattr(Object, f"__{_name}__", _operator(_name, _function))
    setattr(Object, f"__r{_name}__", _operator("r" + _name, _function, reflected=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "getitem",
              "contains", "index"):  # fmt: skip
    setattr(Object, f"__{_name}__", _operator(_name, getattr(operator, f"__{_name}__")))
for _function in (len, bool, int, float, complex, str, repr):
    setattr(Object, f"__{_function.__name__}__", _operator(_function.__name__, _function))
