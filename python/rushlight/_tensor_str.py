"""Tensors as text, character for character as PyTorch 2.13 prints them.

Note: only the elements that appear in the text are ever read, and the column width comes from the
finite, non-zero ones among them alone (so "-0.0000" or "nan" may stick out).
"""

from __future__ import annotations

import operator

from rushlight import _C
from rushlight._table import op

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]

_PROFILES = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, float("inf"), 3, 80),
}


class _PrintOptions:
    """The options in force, one instance for the process: ``PRINT_OPTS``."""

    __slots__ = ("edgeitems", "linewidth", "precision", "sci_mode", "threshold")

    def __init__(self):
        self.precision, self.threshold, self.edgeitems, self.linewidth = _PROFILES["default"]
        self.sci_mode = None


PRINT_OPTS = _PrintOptions()


@op("torch")
def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """Sets how tensors are printed; an option that is not given keeps its value, but ``sci_mode``
    returns to automatic.

    Args:
        precision: digits after the decimal point (4).
        threshold: number of elements above which only the edges are shown (1000).
        edgeitems: elements shown at each end of a summarised dimension (3).
        linewidth: characters in a line (80).
        profile: "default", "short" or "full", applied before the other arguments.
        sci_mode: True or False force or forbid scientific notation; None decides by the values.

    Raises:
        ValueError: for an unknown profile or a negative number. Nothing is changed then.

    Example:
        >>> torch.set_printoptions(precision=2)
        >>> torch.tensor([1.12345])
        tensor([1.12])
        >>> torch.set_printoptions(profile="default")
        >>> torch.tensor([1.12345])
        tensor([1.1235])
    """
    given = (precision, threshold, edgeitems, linewidth)
    names = ("precision", "threshold", "edgeitems", "linewidth")
    if profile is None:
        current = [getattr(PRINT_OPTS, name) for name in names]
    elif profile in _PROFILES:
        current = _PROFILES[profile]
    else:
        raise ValueError(
            f"set_printoptions(): unknown profile {profile!r}\n"
            "it is one of 'default', 'short', 'full'"
        )
    chosen = [old if new is None else new for new, old in zip(given, current, strict=True)]
    for i in (0, 2):
        chosen[i] = operator.index(chosen[i])
    for name, value in zip(names, chosen, strict=True):
        if not value >= 0:
            raise ValueError(f"set_printoptions(): {name} must not be negative, got {value!r}")
    PRINT_OPTS.precision, PRINT_OPTS.threshold, PRINT_OPTS.edgeitems, PRINT_OPTS.linewidth = chosen
    PRINT_OPTS.sci_mode = sci_mode


@op("torch")
def get_printoptions():
    """Returns the print options as a dict that :func:`set_printoptions` accepts as ``**options``.

    Example:
        >>> torch.get_printoptions()["precision"]
        4
    """
    names = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
    return {name: getattr(PRINT_OPTS, name) for name in names}


class printoptions:
    """Sets print options inside a ``with`` block; takes what :func:`set_printoptions` takes.

    Example:
        >>> with torch.printoptions(precision=1):
        ...     print(torch.tensor([0.25]))
        tensor([0.2])
        >>> torch.tensor([0.25])
        tensor([0.2500])
    """

    def __init__(self, **options):
        self._options = options

    def __enter__(self):
        self._before = get_printoptions()
        set_printoptions(**self._options)

    def __exit__(self, *_):
        set_printoptions(**self._before)


def _shown_values(tensor, edge):
    """The elements that a summary shows, as a flat list in order."""
    size = tensor.shape[0]
    if tensor.dim() == 1:
        if size <= 2 * edge:
            return tensor.tolist()
        return tensor.narrow(0, 0, edge).tolist() + tensor.narrow(0, size - edge, edge).tolist()
    rows = range(size) if size <= 2 * edge else (*range(edge), *range(size - edge, size))
    values = []
    for row in rows:
        values += _shown_values(tensor.select(0, row), edge)
    return values


def _columns(values, dtype):
    """Formats the elements for columns: returns the padded strings and the column width."""
    if dtype.is_complex:
        texts, width = _real_columns([v.real for v in values])
        parts, width_of_parts = _real_columns([v.imag for v in values])
        parts = [part.lstrip() for part in parts]
        parts = [part if part[0] in "+-" else "+" + part for part in parts]
        texts = [f"{text}{part}j" for text, part in zip(texts, parts, strict=True)]
        return texts, width + width_of_parts + 1
    if not dtype.is_floating_point:
        texts = list(map(str, values))
        width = max(map(len, texts))
        return [text.rjust(width) for text in texts], width
    if dtype is _C.float8_e8m0fnu:  # it has no zero: PyTorch takes its least number for one
        values = [0.0 if v == 2.0**-127 else v for v in values]
    return _real_columns(values)


def _real_columns(values):
    sizes = [abs(v) for v in values if v and v - v == 0]
    if not sizes:
        return [f"{v:.0f}." if v == 0 else f"{v:.0f}" for v in values], 1
    smallest, largest = min(sizes), max(sizes)
    scientific = PRINT_OPTS.sci_mode
    if scientific is None:
        scientific = largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4
    whole = all(map(float.is_integer, sizes))
    if scientific:
        style = f"%.{PRINT_OPTS.precision}e\n"
    else:
        style = "%.0f\n" if whole else f"%.{PRINT_OPTS.precision}f\n"
    texts = (style * len(values) % tuple(values)).split()
    if whole and not scientific:
        texts = [text + "." if v - v == 0 else text for text, v in zip(texts, values, strict=True)]
    if len(sizes) == len(values):
        width = max(map(len, texts))
    else:
        width = max(len(t) for t, v in zip(texts, values, strict=True) if v and v - v == 0)
    return [text.rjust(width) for text in texts], width


def _row(texts, width, cut, indent):
    """One innermost row, broken into lines; ``cut`` is where the dots go, or None."""
    if cut is not None:
        texts = [*texts[:cut], " ..." if cut else "...", *texts[cut:]]
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // (width + 2))
    if len(texts) <= per_line:
        return "[" + ", ".join(texts) + "]"
    per_line = int(per_line)
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _contents(tensor, indent):
    """The bracketed elements of a tensor that has some."""
    shape = tensor.shape
    edge = PRINT_OPTS.edgeitems
    summarize = tensor.numel() > PRINT_OPTS.threshold
    tensor = tensor.detach()
    if tensor.dtype is _C.float4_e2m1fn_x2:  # two numbers in a byte: the bytes
        tensor = tensor.view(_C.uint8)
    rank = len(shape)
    if rank == 0:
        return _columns([tensor.item()], tensor.dtype)[0][0]
    if summarize and edge == 0:
        return "[...]"
    if rank == 1 and not summarize:
        values = tensor.tolist()
    else:
        values = _shown_values(tensor, edge) if summarize else tensor.reshape(-1).tolist()
    texts, width = _columns(values, tensor.dtype)

    # From the innermost dimension outwards: `shown` is how many entries of it appear, `cut` where
    # the dots are among them.
    parts = texts
    for axis in range(rank - 1, -1, -1):
        shown, cut = shape[axis], None
        if summarize and shown > 2 * edge:
            shown, cut = 2 * edge, edge
        groups = [parts[i : i + shown] for i in range(0, len(parts), shown)]
        if axis == rank - 1:
            parts = [_row(group, width, cut, indent + axis) for group in groups]
            continue
        separator = "," + "\n" * (rank - axis - 1) + " " * (indent + axis + 1)
        if cut is not None:
            groups = [[*group[:cut], "...", *group[cut:]] for group in groups]
        parts = ["[" + separator.join(group) + "]" for group in groups]
    return parts[0]


_tensor_str = _contents  # the name that libraries take it by


def _suffixes(tensor, type_is_implied):
    """What follows the elements: device, size, dtype and grad_fn."""
    device = tensor.device
    if device.type != "cpu":
        yield f"device='{device}'"
    dtype = tensor.dtype
    empty = tensor.numel() == 0
    if device.type == "meta" or (tensor.dim() != 1 if empty else PRINT_OPTS.edgeitems == 0):
        yield f"size={tuple(tensor.shape)}"
    if not type_is_implied(dtype):
        yield f"dtype={dtype}"
    if tensor.requires_grad:
        try:
            grad_fn = tensor.grad_fn
        except RuntimeError:  # a view whose base was written to where it could not follow
            yield "grad_fn=<Invalid>"
            return
        if grad_fn is None:
            yield "requires_grad=True"
        else:
            yield f"grad_fn=<{grad_fn.name().rpartition('::')[2]}>"


def _has_default_type(dtype):
    return dtype is _C.get_default_dtype()


def _reads_as_itself(dtype):
    default = _C.get_default_dtype()
    return dtype in (_C.int64, _C.bool, default, default.to_complex())


def _is_parameter(kind):
    homes = ("rushlight.nn.parameter", "torch.nn.parameter")  # the latter under the alias
    return kind.__name__ == "Parameter" and kind.__module__ in homes


def tensor_repr(tensor, *, contents=None):
    """Returns ``repr(tensor)``; ``contents``, if given, replace the elements."""
    kind = type(tensor)
    prefix = "tensor(" if kind is _C.Tensor or _is_parameter(kind) else kind.__name__ + "("
    indent = len(prefix)
    if tensor.device.type == "meta":
        body, implied = "...", _has_default_type
    elif tensor.numel() == 0:
        body, implied = "[]", _has_default_type
    else:
        body, implied = None, _reads_as_itself
    if contents is not None:
        body = contents
    text = prefix + (_contents(tensor, indent) if body is None else body)

    length = len(text) - text.rfind("\n") + 1
    text = with_suffixes(text, length, _suffixes(tensor, implied), indent) + ")"
    if prefix != "tensor(" and any(map(_is_parameter, kind.__mro__)):
        return f"Parameter({text})"
    return text


def with_suffixes(text, length, suffixes, indent):
    """The text, whose last line has this length, and what follows it, on new lines where needed."""
    for suffix in suffixes:
        if length + len(suffix) + 2 > PRINT_OPTS.linewidth:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text


def tensor_format(tensor, spec):
    """Returns ``format(tensor, spec)``: a scalar's for a plain 0-d tensor, else an object's."""
    if tensor.dim() == 0 and type(tensor) is _C.Tensor and tensor.device.type != "meta":
        return format(tensor.detach().item(), spec)
    return object.__format__(tensor, spec)
