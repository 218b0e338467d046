"""Writes python/rushlight/_C.pyi from the built module; --check compares instead.

Ops bring their own lines (`_C.__stubs__`, made from the same signature text as their errors);
classes and functions of pybind11 bring theirs in the first line of their docstrings.
"""

import pathlib
import re
import sys
import types

from rushlight import _C

FILE = pathlib.Path(__file__).parent.parent / "python/rushlight/_C.pyi"
HEAD = """# Written by tools/stubs.py from the built module; do not edit.
import builtins
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

"""
BOTH, FUNCTION, METHOD = range(3)  # enum class As of csrc/bindings/signature.h
NUMBER = "Tensor | builtins.float"
SLOTS = {
    **dict.fromkeys(
        "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul "
        "rmatmul and rand or ror xor rxor lshift rlshift rshift rrshift iadd isub imul itruediv "
        "ifloordiv imod ipow imatmul iand ior ixor ilshift irshift lt le gt ge".split(),
        f"(self, other: {NUMBER}) -> Tensor",
    ),
    **dict.fromkeys("neg pos abs invert".split(), "(self) -> Tensor"),
    "eq": f"(self, other: {NUMBER}) -> Tensor:  # type: ignore[override]",
    "ne": f"(self, other: {NUMBER}) -> Tensor:  # type: ignore[override]",
    "getitem": "(self, index: Any) -> Tensor",
    "setitem": f"(self, index: Any, value: {NUMBER}) -> None",
    "len": "(self) -> builtins.int",
    "bool": "(self) -> builtins.bool",
    "int": "(self) -> builtins.int",
    "float": "(self) -> builtins.float",
    "index": "(self) -> builtins.int",
    "complex": "(self) -> complex",
    "iter": "(self) -> Iterator[Tensor]",
    "contains": "(self, item: Any) -> builtins.bool",
    "hash": "(self) -> builtins.int",
}


def qualified(line):
    """A class body hides builtins that are also methods of Tensor: int(), float(), bool()."""
    return re.sub(r"(?<=[:>|\[,]) ?\b(int|float|bool)\b(?!\()", r" builtins.\1", line)


def op_lines():
    """name -> its signatures, for the module and for Tensor."""
    functions, methods = {}, {}
    for line, where in _C.__stubs__:
        name = line[4 : line.index("(")]
        if where != METHOD:
            functions.setdefault(name, []).append(qualified(line))
        if where != FUNCTION:
            own = re.sub(r"\(\*?\w+: [^,)]*", "(self", qualified(line), count=1)
            methods.setdefault(name, []).append(own)
    return functions, methods


def from_docstring(name, value, method):
    """pybind11 writes "name(self: X, arg0: int) -> str" first; anything else is left open."""
    first = (value.__doc__ or "").split("\n")[0]
    match = re.fullmatch(rf"{re.escape(name)}\((.*)\) -> (.+)", first)
    if not match or "Overloaded" in value.__doc__ or re.search(r"<|\bArgs\b", first):
        return f"def {name}({'self, ' if method else ''}*args: Any, **kwargs: Any) -> Any: ..."
    inside, result = (re.sub(r"\brushlight\._C\.", "", text) for text in match.groups())
    inside = re.sub(r"\bself: [\w.]+", "self", inside)
    return qualified(f"def {name}({inside}) -> {result}: ...")


def function_lines(lines, indent=""):
    lines = list(dict.fromkeys(lines))
    mark = f"{indent}@overload\n" if len(lines) > 1 else ""
    return "".join(f"{mark}{indent}{line}\n" for line in lines)


def class_text(cls, methods):
    base = cls.__base__
    parent = f"({base.__name__})" if base.__module__ == cls.__module__ else ""
    if issubclass(cls, BaseException) and not parent:
        parent = f"({base.__name__})"
    text = ""
    for name, value in sorted(vars(cls).items()):
        slot = name[2:-2] if name.startswith("__") and name.endswith("__") else ""
        if name in methods:
            text += function_lines(methods[name], "    ")
        elif isinstance(value, types.GetSetDescriptorType | types.MemberDescriptorType | property):
            if not slot:
                text += f"    @property\n    def {name}(self) -> Any: ...\n"
                if not isinstance(value, property) or value.fset:
                    text += f"    @{name}.setter\n    def {name}(self, value: Any) -> None: ...\n"
        elif slot in SLOTS and cls.__name__ == "Tensor":
            signature, _, note = SLOTS[slot].partition(":  #")
            text += f"    def {name}{signature}: ...{'  #' + note if note else ''}\n"
        elif slot == "init" or (slot == "new" and cls.__name__ == "Tensor"):
            text += "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n"
        elif not slot and callable(value):
            text += f"    {from_docstring(name, value, True)}\n"
        elif not slot and not isinstance(value, types.BuiltinFunctionType):
            text += f"    {name}: Any\n"
    return f"class {cls.__name__}{parent}:" + (f"\n{text}\n" if text else " ...\n")


def stub():
    functions, methods = op_lines()
    text = ""
    for name, value in sorted(vars(_C).items()):
        if name.startswith("__"):
            continue
        if isinstance(value, type):
            if value.__name__ == name:
                text += class_text(value, methods if name == "Tensor" else {})
            else:
                text += f"{name} = {value.__name__}\n"
        elif name in functions:
            text += function_lines(functions[name])
        elif isinstance(value, types.ModuleType):
            text += f"{name}: types.ModuleType\n"
        elif callable(value):
            text += from_docstring(name, value, False) + "\n"
        else:
            kind = type(value)
            own = kind.__module__ in ("builtins", _C.__name__, "rushlight")
            text += f"{name}: {kind.__name__ if own else 'Any'}\n"
    return HEAD + text


def main():
    text = stub()
    if "--check" not in sys.argv:
        FILE.write_text(text)
    elif FILE.read_text() != text:
        sys.exit("_C.pyi is not what the module says: run python tools/stubs.py")
    print(f"{len(_C.__stubs__)} signatures of ops, {text.count('def ')} in all")


if __name__ == "__main__":
    main()
