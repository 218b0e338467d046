"""Writes python/rushlight/_C.pyi from the built module; --check compares instead.

Operations bring their own lines (`_C._rows()`, made from the same signature text as their errors;
of those in Python, from their annotations); classes and functions of pybind11 bring theirs in the
first line of their docstrings.
"""

import inspect
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
NUMBER = "Tensor | builtins.complex"
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
    "complex": "(self) -> builtins.complex",
    "iter": "(self) -> Iterator[Tensor]",
    "contains": "(self, item: Any) -> builtins.bool",
    "hash": "(self) -> builtins.int",
}
# What attributes of Tensor hold, where it is not a bool (`is_...`) or anything at all.
PROPERTIES = {
    **dict.fromkeys("H T mH mT data real imag".split(), "Tensor"),
    **dict.fromkeys("grad _base".split(), "Tensor | None"),
    **dict.fromkeys("ndim itemsize nbytes output_nr _version".split(), "builtins.int"),
    **dict.fromkeys("requires_grad retains_grad".split(), "builtins.bool"),
    "device": "_device",
    "dtype": "_dtype",
    "grad_fn": "Node | None",
    "shape": "Size",
}
SETTABLE = {"data", "grad", "grad_dtype", "requires_grad"}
# Names that mean something else inside the class Tensor, or once the module's dtypes are there.
HIDDEN = r"(?P<builtin>\b(?:int|float|bool|complex)\b)|(?P<own>\b(?:device|dtype)\b)"


def qualified(line):
    """Spells types so that methods such as int() and attributes such as device do not hide them."""

    def spell(match):
        return "builtins." + match[0] if match["builtin"] else "_" + match[0]

    def types_of(match):
        return re.sub(HIDDEN, spell, match[0])

    line = re.sub(r"\bfrom: ", "from_: ", line)  # a keyword: given by position in typed code
    return re.sub(r"(?<=: )[^:=]+?(?=, \*?\w+:|, \*,| = |\)|$)|(?<=-> )[^:]+", types_of, line)


def in_place(line):
    """The line of name_(): without out=."""
    line = re.sub(r"(?:, \*)?, out: [^=]*= \.\.\.", "", line)
    return re.sub(r"^def (\w+)\(", r"def \1_(", line)


def copy(line):
    """The line of name_copy(), which has out=."""
    head, result = line.rsplit(") -> ", 1)
    star = "" if ", *" in head else ", *"
    kind = result.removesuffix(": ...")
    return re.sub(
        r"^def (\w+)\(", r"def \1_copy(", f"{head}{star}, out: {kind} | None = ...) -> {result}"
    )


def operation_lines(place):
    """name -> its signatures, of the operations in C++ that are visible in a place."""
    lines = {}
    for row in _C._rows():
        own = [qualified(line) for line in row["stubs"]]
        if place == "Tensor":
            own = [re.sub(r"\(\*?\w+: [^,)]*", "(self", line, count=1) for line in own]
        if place in row["visible"]:
            lines.setdefault(row["name"], []).extend(own)
        if place in row["in_place"]:
            lines.setdefault(row["name"] + "_", []).extend(map(in_place, own))
        for alias in row["aliases"]:
            written = alias.endswith("_") and not row["name"].endswith("_")
            named = [re.sub(r"^def \w+", f"def {alias}", line) for line in own]
            if place in row["in_place" if written else "visible"]:
                lines.setdefault(alias, []).extend(
                    [re.sub(r"(?:, \*)?, out: [^=]*= \.\.\.", "", n) for n in named]
                    if written
                    else named
                )
        if row["copy"] and place == "torch":
            lines.setdefault(row["name"] + "_copy", []).extend(map(copy, own))
    return lines


def from_docstring(name, value, method):
    """pybind11 writes "name(self: X, arg0: int) -> str" first; anything else is left open."""
    first = (value.__doc__ or "").split("\n")[0]
    match = re.fullmatch(rf"{re.escape(name)}\((.*)\) -> (.+)", first)
    if not match or "Overloaded" in value.__doc__ or re.search(r"<|\bArgs\b", first):
        return f"def {name}({'self, ' if method else ''}*args: Any, **kwargs: Any) -> Any: ..."
    homes = r"\brushlight\.(?:_C\.|autograd\.graph\.)?|\bcollections\.abc\."
    inside, result = (re.sub(homes, "", text) for text in match.groups())
    inside = inside.replace("typing_extensions.CapsuleType", "Any")
    if "::" in inside + result:
        inside, result = (re.sub(r"[\w:]*::[\w:() ]*\w", "Any", text) for text in (inside, result))
    inside = re.sub(r"\bself: [\w.]+", "self", inside)
    return qualified(f"def {name}({inside}) -> {result}: ...")


def python_method(name, value):
    """Tensor's methods that are written in Python, from their annotations."""
    signature = inspect.signature(value)
    text, known = "", re.compile(r"[\w.\[\], |]+")
    for i, p in enumerate(signature.parameters.values()):
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        if p.kind == p.KEYWORD_ONLY and "*" not in text:
            text += ", *"
        kind = "Any" if p.annotation is p.empty else str(p.annotation)
        kind = re.sub(r"\bNumber\b", "float", kind)
        text += f", {star}{p.name}" + (f": {kind}" if i else "")
        text += "" if p.default is p.empty else " = ..."
    result = signature.return_annotation
    result = result if isinstance(result, str) and known.fullmatch(result) else "Any"
    return qualified(f"def {name}({text[2:]}) -> {result}: ...")


def attribute_lines(name, settable):
    kind = PROPERTIES.get(name, "builtins.bool" if name.startswith("is_") else "Any")
    text = f"    @property\n    def {name}(self) -> {kind}: ...\n"
    if settable:
        text += f"    @{name}.setter\n    def {name}(self, value: {kind}) -> None: ...\n"
    return text


def alias_of(table, name, value):
    """The lines of another name for the same function: torch.absolute is torch.abs."""
    lines = table.get(getattr(value, "__name__", None), ())
    return [re.sub(r"^def \w+", f"def {name}", line) for line in lines]


def function_lines(lines, indent=""):
    lines = list(dict.fromkeys(lines))
    mark = f"{indent}@overload\n" if len(lines) > 1 else ""
    return "".join(f"{mark}{indent}{line}\n" for line in lines)


def class_text(cls, methods):
    base = cls.__base__
    parent = f"({base.__name__})" if base.__module__ == cls.__module__ else ""
    if base in (tuple, type) or issubclass(cls, BaseException):
        parent = "(tuple[builtins.int, ...])" if base is tuple else f"({base.__name__})"
    text = ""
    for name, value in sorted(vars(cls).items()):
        slot = name[2:-2] if name.startswith("__") and name.endswith("__") else ""
        if name in methods or alias_of(methods, name, value):
            text += function_lines(methods.get(name) or alias_of(methods, name, value), "    ")
        elif isinstance(value, types.GetSetDescriptorType | types.MemberDescriptorType | property):
            settable = value.fset if isinstance(value, property) else name in SETTABLE
            text += "" if slot else attribute_lines(name, settable)
        elif slot in SLOTS and cls.__name__ == "Tensor":
            signature, _, note = SLOTS[slot].partition(":  #")
            text += f"    def {name}{signature}: ...{'  #' + note if note else ''}\n"
        elif slot == "init" or (slot == "new" and base is object and "__init__" not in vars(cls)):
            text += "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n"
        elif slot == "enter":
            text += f"    def __enter__(self) -> {cls.__name__}: ...\n"
        elif slot == "exit":
            text += "    def __exit__(self, *args: Any) -> None: ...\n"
        elif slot == "call":
            text += "    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...\n"
        elif not slot and (
            isinstance(value, types.FunctionType) or type(value).__name__ == "operation_method"
        ):
            text += f"    {python_method(name, value)}\n"
        elif not slot and callable(value):
            text += f"    {from_docstring(name, value, True)}\n"
        elif not slot and not isinstance(value, types.BuiltinFunctionType):
            text += f"    {name}: Any\n"
    return f"class {cls.__name__}{parent}:" + (f"\n{text}\n" if text else " ...\n")


def stub():
    functions, methods = operation_lines("torch"), operation_lines("Tensor")
    text = ""
    for name, value in sorted(vars(_C).items()):
        if name.startswith("__"):
            continue
        if isinstance(value, type):
            if value.__name__ == name:
                text += class_text(value, methods if name == "Tensor" else {})
            elif value.__name__ in vars(_C):
                text += f"{name} = {value.__name__}\n"
            else:  # a class that is public elsewhere
                text += f"class {name}({value.__base__.__name__}): ...\n"
        elif name in functions or alias_of(functions, name, value):
            text += function_lines(functions.get(name) or alias_of(functions, name, value))
        elif isinstance(value, types.ModuleType):
            text += f"{name}: types.ModuleType\n"
        elif callable(value):
            text += from_docstring(name, value, False) + "\n"
        else:
            kind = type(value)
            own = kind.__module__ in ("builtins", _C.__name__, "rushlight")
            text += f"{name}: {kind.__name__ if own else 'Any'}\n"
    names = "".join(f'    "{name}",\n' for name in _C.__all__)
    return f"{HEAD}__all__ = [\n{names}]\n\n{text}_device = device\n_dtype = dtype\n"


def main():
    text = stub()
    if "--check" not in sys.argv:
        FILE.write_text(text)
    elif FILE.read_text() != text:
        sys.exit("_C.pyi is not what the module says: run python tools/stubs.py")
    print(f"{len(_C._rows())} rows of operations, {text.count('def ')} signatures in all")


if __name__ == "__main__":
    main()
