"""Functions of one tensor that keep zero, so that only the values change."""

from rushlight._sparse.dispatch import rule
from rushlight._sparse.entries import coalesced
from rushlight._sparse.tensor import Compressed, with_values

# The names of torch's nodes where they are not the function's with a capital.
KEEP_ZERO = {
    name: name.capitalize()
    for name in """
    abs asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac log1p rad2deg relu round sgn
    sign sin sinh sqrt tan tanh trunc isnan isinf isneginf isposinf signbit nan_to_num
    """.split()
} | {"log1p": "Log1P", "deg2rad": "Deg2Rad", "rad2deg": "Rad2Deg", "square": "Pow",
     "nan_to_num": "NanToNum"}  # fmt: skip


def _register(name, node):
    def keeps_zero(input, *args, **kwargs):
        x = input if isinstance(input, Compressed) else coalesced(input)
        values = getattr(x._v, name)(*args, **kwargs)
        return with_values(x, values, f"{node}Backward0")

    rule(name)(keeps_zero)


for _name, _node in KEEP_ZERO.items():
    _register(_name, _node)


@rule("neg")
def neg(input):
    """The negated values."""
    return with_values(input, -input._v, "NegBackward0")


@rule("positive pos")
def positive(input):
    """Itself."""
    return input


@rule("conj conj_physical resolve_conj resolve_neg")
def conj(input):
    """The conjugated values."""
    return with_values(input, input._v.conj(), "ConjBackward0") if input._v.is_complex() else input


@rule("pow")
def power(input, exponent):
    """A power that keeps zero."""
    from rushlight._sparse.dispatch import refuse
    from rushlight._sparse.tensor import is_sparse

    if not is_sparse(input) or not isinstance(exponent, (int, float, complex)):
        refuse("pow", (input, exponent), {})
    if exponent == 0:
        raise RuntimeError(
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor "
            "dense"
        )
    if isinstance(input, Compressed) or exponent.__class__ is complex or exponent < 0:
        refuse("pow", (input, exponent), {})
    x = coalesced(input)
    return with_values(x, x._v**exponent, "PowBackward0")
