"""torch._foreach_*: an operation on each tensor of a list, for optimizers that libraries bring.

One call of the operation for each tensor: results and errors are those of the operation. A form
with an underscore writes to the tensors and returns the list.
"""

import rushlight
from rushlight import _C

UNARY = (
    "abs acos asin atan ceil clone cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p "
    "log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
).split()
BINARY = "add clamp_max clamp_min div lerp maximum minimum mul pow sub".split()
SCALED = "addcdiv addcmul".split()
OTHERS = "copy_ max mm norm zero_".split()
NAMES = {f"_foreach_{n}{end}" for n in (*UNARY, *BINARY, *SCALED) for end in ("", "_")}
NAMES = {*NAMES, *(f"_foreach_{n}" for n in OTHERS)} - {"_foreach_clone_"}
_made: dict = {}


def _tensors(name, value):
    if not isinstance(value, list | tuple) or not all(isinstance(t, _C.Tensor) for t in value):
        raise TypeError(
            f"{name}(): argument 'self' must be tuple of Tensors, not {type(value).__name__}"
        )
    if not value:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return value


def _each(value, count):
    """A value for each tensor of the list: of a list its elements, else itself."""
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        if value and not isinstance(value[0], _C.Tensor):
            raise RuntimeError(
                "Tensor list must have same number of elements as scalar list, got "
                f"{count} and {len(value)}"
            )
        raise RuntimeError(
            f"Tensor lists must have the same number of tensors, got {count} and {len(value)}"
        )
    return value


def make(name):
    """The function of that name, a member of NAMES."""
    plain = name.removeprefix("_foreach_")
    base = plain.removesuffix("_")
    kind = _C.Tensor
    if plain == "norm":
        operation = rushlight.linalg.vector_norm
    elif base in ("maximum", "minimum"):  # of a scalar, too
        operation = kind.clamp_min if base == "maximum" else kind.clamp_max
    else:
        operation = getattr(kind, base, None) or getattr(kind, plain)
    in_place = plain.endswith("_")
    if in_place:
        operation = getattr(kind, operation.__name__.removesuffix("_") + "_")

    def foreach(self, *others, **options):
        if base == "pow" and not in_place and not isinstance(self, list | tuple):
            exponents = _tensors(name, *others)
            return tuple(rushlight.pow(self, exponent) for exponent in exponents)
        count = len(_tensors(name, self))
        if base in SCALED:  # the factors are one number, a list of them, or a tensor of them
            given = [*others, *options.values()]
            factor = given[2] if len(given) > 2 else 1
            factor = factor.tolist() if isinstance(factor, _C.Tensor) else factor
            columns = [_each(value, count) for value in (*given[:2], factor)]
            calls = [(row[:2], {"value": row[2]}) for row in zip(*columns, strict=True)]
        else:
            columns = [_each(value, count) for value in others]
            rows = zip(*columns, strict=True) if columns else [()] * count
            calls = [(row, options) for row in rows]
        done = [operation(t, *a, **k) for t, (a, k) in zip(self, calls, strict=True)]
        return self if in_place else tuple(done)

    foreach.__name__ = foreach.__qualname__ = name
    foreach.__doc__ = f"Tensor.{plain}() of each tensor of a list."
    return foreach


def find(name):
    """The function, made by its first use and kept; None for another name."""
    if name in NAMES and name not in _made:
        _made[name] = make(name)
    return _made.get(name)
