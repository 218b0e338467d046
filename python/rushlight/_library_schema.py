"""Schemas of custom operations: their text from a function's annotations, and a signature from
their text."""

import ast
import collections.abc
import inspect
import re
import types
import typing

from rushlight import _C

__all__ = ["infer_schema", "signature_of"]

_PLAIN = {
    _C.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str",
    complex: "complex", _C.dtype: "ScalarType", _C.device: "Device", int | float | bool: "Scalar",
    int | float: "Scalar",
}  # fmt: skip
_LISTS = (list, collections.abc.Sequence)


def _kind(annotation):
    """The schema's word for an annotation; None where there is none."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    home, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if home in (typing.Union, types.UnionType):
        rest = [part for part in parts if part is not type(None)]
        if len(rest) < len(parts):
            inner = _kind(typing.Union[tuple(rest)])  # noqa: UP007 - of a tuple
            return inner and inner + "?"
        return "Scalar" if set(rest) <= {int, float, bool} else None
    if home in _LISTS and len(parts) == 1:
        inner = _kind(parts[0])
        return inner and inner + "[]"
    return None


def _default(name, value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, _C.dtype | _C.device):
        return f'"{value}"' if isinstance(value, _C.device) else str(value).rpartition(".")[2]
    if value is None or isinstance(value, int | float | bool):
        return repr(value)
    raise ValueError(
        f"infer_schema(func): Parameter {name} has an unsupported default value type {type(value)}."
    )


def _result(annotation):
    if annotation in (None, type(None)):
        return "()"
    if typing.get_origin(annotation) is tuple:
        return f"({', '.join(map(_result, typing.get_args(annotation)))})"
    if (kind := _kind(annotation)) is None:
        raise ValueError(f"infer_schema(func): Return has unsupported type {annotation}.")
    return kind


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The text of a schema, from a function's annotations.

    Args:
        prototype_function: the function.
        mutates_args: the names of the arguments that it writes to, or "unknown".
        op_name: a name to begin with.

    Raises:
        ValueError: for an annotation that schemas have no word for, or none.

    >>> def scaled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor: ...
    >>> torch.library.infer_schema(scaled, mutates_args=())
    '(Tensor x, float by=2.0) -> Tensor'
    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)
    parts, star, written = [], False, 0
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ValueError("infer_schema(func): we do not support *args or **kwargs.")
        if name not in hints:
            raise ValueError(
                f"infer_schema(func): Parameter {name} must have a type annotation. "
                f"Got func with signature {signature})"
            )
        kind = _kind(hints[name])
        if kind is None:
            raise ValueError(
                f"infer_schema(func): Parameter {name} has unsupported type {hints[name]}. "
                f"The valid types are: {', '.join(_PLAIN.values())}, and lists of them."
            )
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            star = True
            parts.append("*")
        is_written = mutates_args == "unknown" or name in mutates_args
        if is_written and kind.startswith("Tensor"):
            kind = kind.replace("Tensor", f"Tensor(a{written}!)", 1)
            written += 1
        text = f"{kind} {name}"
        if parameter.default is not parameter.empty:
            text += f"={_default(name, parameter.default)}"
        parts.append(text)
    unknown = set() if mutates_args == "unknown" else set(mutates_args) - set(hints)
    if unknown:
        raise ValueError(
            f"infer_schema(func): {sorted(unknown)} in mutates_args were not found in the function"
        )
    schema = f"({', '.join(parts)}) -> {_result(hints.get('return'))}"
    return schema if op_name is None else op_name + schema


def signature_of(schema):
    """The inspect.Signature of a schema such as "(Tensor x, *, bool b=False) -> Tensor"."""
    match = re.fullmatch(r"\s*\((.*)\)\s*->\s*(.*)", schema, re.S)
    if match is None:
        raise RuntimeError(f"expected a schema such as '(Tensor x) -> Tensor', got '{schema}'")
    kind, parameters = inspect.Parameter.POSITIONAL_OR_KEYWORD, []
    for part in re.findall(r"(?:\([^)]*\)|\[[^\]]*\]|\"[^\"]*\"|[^,])+", match[1]):
        declared, equals, default = part.strip().partition("=")
        if declared == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        type_name, _, name = declared.rpartition(" ")
        if not type_name or not name.isidentifier():
            raise RuntimeError(f"expected a type and a name, got '{part.strip()}' in '{schema}'")
        fallback = inspect.Parameter.empty
        if equals:
            try:
                fallback = ast.literal_eval(default)
            except (ValueError, SyntaxError):
                fallback = getattr(_C, default, default)
        is_tensor = re.fullmatch(r"Tensor(\([^)]*\))?", type_name)
        annotation = "Tensor" if is_tensor else type_name
        parameters.append(inspect.Parameter(name, kind, default=fallback, annotation=annotation))
    return inspect.Signature(parameters)
