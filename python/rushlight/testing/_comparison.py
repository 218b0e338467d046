"""assert_close: equal within a tolerance that fits the dtype, and if not, where and how far off."""

from collections.abc import Mapping, Sequence

from rushlight import _C

# (rtol, atol): exact for all other dtypes.
_TOLERANCES = {
    _C.float16: (1e-3, 1e-5),
    _C.bfloat16: (1.6e-2, 1e-5),
    _C.float32: (1.3e-6, 1e-5),
    _C.float64: (1e-7, 1e-7),
    _C.complex64: (1.3e-6, 1e-5),
    _C.complex128: (1e-7, 1e-7),
}


class _Mismatch(Exception):
    """What differs, and the way to it through sequences and mappings."""

    def __init__(self, text, kind=AssertionError):
        super().__init__(text)
        self.kind = kind
        self.way = []


def assert_close(
    actual,
    expected,
    *,
    allow_subclasses=True,
    rtol=None,
    atol=None,
    equal_nan=False,
    check_device=True,
    check_dtype=True,
    check_layout=True,
    check_stride=False,
    msg=None,
):
    """Raises unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Args:
        actual: tensors, NumPy arrays or scalars, also in sequences and mappings.
        expected: the same with the right values.
        allow_subclasses: an object of a subclass of Tensor counts as a tensor.
        rtol: relative tolerance; by default that of the dtype, such as 1.3e-6 for float32.
        atol: absolute tolerance; both are given or none.
        equal_nan: NaN equals NaN.
        check_device: devices must be equal.
        check_dtype: dtypes must be equal.
        check_layout: compare whether they are dense, or in which way sparse.
        check_stride: strides must be equal.
        msg: a text that replaces the message, or a function that is given it.

    Shape: actual and expected of one shape.

    Raises:
        AssertionError: what differs, at which index, by how much, and what was allowed.
        TypeError: for objects of which no values can be compared.

    >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0 + 1e-6]))
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'atol' if atol is None else 'rtol'}."
        )
    options = {
        "allow_subclasses": allow_subclasses,
        "tolerances": None if rtol is None else (rtol, atol),
        "equal_nan": equal_nan,
        "check_device": check_device,
        "check_dtype": check_dtype,
        "check_stride": check_stride,
        "check_layout": check_layout,
    }
    try:
        _compare(actual, expected, options)
    except _Mismatch as mismatch:
        text, kind = str(mismatch), mismatch.kind
        if mismatch.way:
            way = "".join(f"[{step!r}]" for step in reversed(mismatch.way))
            text = f"{text}\n\nThe failure occurred for item {way}"
    else:
        return
    if msg is not None and kind is AssertionError:
        text = msg(text) if callable(msg) else msg
    raise kind(text)


def _is_sequence(value):
    return isinstance(value, Sequence) and not isinstance(value, str)


def _compare(actual, expected, options):
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            raise _Mismatch(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            )
        keys = range(len(actual))
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing, more = expected.keys() - actual.keys(), actual.keys() - expected.keys()
        if missing or more:
            raise _Mismatch(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing, key=str)}\n"
                f"Additional keys in the actual mapping: {sorted(more, key=str)}"
            )
        keys = sorted(actual, key=str)
    else:
        return _compare_values(actual, expected, options)
    for key in keys:
        try:
            _compare(actual[key], expected[key], options)
        except _Mismatch as mismatch:
            mismatch.way.append(key)
            raise
    return None


def _compare_values(actual, expected, options):
    if actual is None or expected is None:
        if actual is not expected:
            raise _Mismatch(f"None mismatch: {actual} is not {expected}")
        return
    plain = _plain_number(actual), _plain_number(expected)
    if isinstance(plain[0], bool) and isinstance(plain[1], bool):
        if plain[0] is not plain[1]:
            raise _Mismatch(f"Booleans mismatch: {actual} is not {expected}")
    elif None not in plain:
        _compare_numbers(*plain, options)
    elif _related(actual, expected, options["allow_subclasses"]):
        try:
            tensors = _C.as_tensor(actual), _C.as_tensor(expected)
        except (TypeError, ValueError, RuntimeError):
            raise _uncomparable(actual, expected) from None
        _compare_tensors(*tensors, options)
    else:
        raise _uncomparable(actual, expected)


def _uncomparable(actual, expected):
    return _Mismatch(
        "No comparison pair was able to handle inputs of type "
        f"{type(actual)} and {type(expected)}.",
        TypeError,
    )


def _is_numpy(value):
    return type(value).__module__ == "numpy"


def _plain_number(value):
    """A Python scalar for a scalar of Python or NumPy; None for everything else."""
    if isinstance(value, bool | int | float | complex) and not _is_numpy(value):
        return value
    if _is_numpy(value) and not hasattr(value, "setflags"):
        return None
    scalar = _is_numpy(value) and not hasattr(value, "__setitem__")
    return value.item() if scalar else None


def _related(actual, expected, allow_subclasses):
    kinds = _kind(actual), _kind(expected)
    if not all(isinstance(v, _C.Tensor) or _is_numpy(v) for v in (actual, expected)):
        return False
    if kinds[0] is kinds[1]:
        return True
    return allow_subclasses and (issubclass(*kinds) or issubclass(*reversed(kinds)))


def _kind(value):
    """Its class; of sparse tensors, whose classes are private, Tensor."""
    kind = type(value)
    sparse = isinstance(value, _C.Tensor) and value.layout is not _C.strided
    return _C.Tensor if sparse and kind.__name__ == "Tensor" else kind


def _tolerances(options, dtypes):
    if options["tolerances"] is not None:
        return options["tolerances"]
    pairs = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(p[0] for p in pairs), max(p[1] for p in pairs)


def _compare_numbers(actual, expected, options):
    if options["check_dtype"] and type(actual) is not type(expected):
        raise _Mismatch(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
    kinds = [_C.float64 if isinstance(v, float | complex) else _C.int64 for v in (actual, expected)]
    rtol, atol = _tolerances(options, kinds)
    if actual == expected or (options["equal_nan"] and actual != actual and expected != expected):
        return
    difference = abs(actual - expected)
    if difference - difference == 0 and difference <= atol + rtol * abs(expected):
        return
    _fail_numbers(actual, expected, rtol, atol)


def _fail_numbers(actual, expected, rtol, atol):
    absolute = abs(actual - expected)
    relative = absolute / abs(expected) if expected else float("inf")
    exact = rtol == 0 and atol == 0
    raise _Mismatch(
        f"Scalars are not {'equal' if exact else 'close'}!\n\n"
        f"Expected {expected} but got {actual}.\n"
        f"Absolute difference: {absolute}{'' if exact else f' (up to {atol} allowed)'}\n"
        f"Relative difference: {relative}{'' if exact else f' (up to {rtol} allowed)'}"
    )


def _check_attribute(name, actual, expected):
    if actual != expected:
        raise _Mismatch(f"The values for attribute '{name}' do not match: {actual} != {expected}.")


def _compare_tensors(actual, expected, options):
    _check_attribute("shape", actual.shape, expected.shape)
    if options["check_layout"]:
        _check_attribute("layout", actual.layout, expected.layout)
    dense = actual.layout is expected.layout is _C.strided
    if options["check_stride"] and dense:
        _check_attribute("stride()", tuple(actual.stride()), tuple(expected.stride()))
    if options["check_device"]:
        _check_attribute("device", actual.device, expected.device)
    if options["check_dtype"]:
        _check_attribute("dtype", actual.dtype, expected.dtype)
    rtol, atol = _tolerances(options, (actual.dtype, expected.dtype))
    if "meta" in (actual.device.type, expected.device.type):
        return None  # there are no values
    actual, expected = actual.detach(), expected.detach()
    if actual.device != expected.device:
        actual, expected = actual.cpu(), expected.cpu()
    dtype = _C.promote_types(*(_signed(t.dtype) for t in (actual, expected)))
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = _C.int64
    if not dense:
        if actual.layout is expected.layout:
            return _compare_sparse(actual, expected, options, (rtol, atol))
        both = (actual, expected)
        actual, expected = (t if t.layout is _C.strided else t.to_dense() for t in both)
    _compare_dense(
        "Tensor-likes", actual.to(dtype), expected.to(dtype), options["equal_nan"], rtol, atol
    )
    return None


def _signed(dtype):
    """int64 for the unsigned types, which have no common one with others."""
    return _C.int64 if dtype in (_C.uint16, _C.uint32, _C.uint64) else dtype


def _compare_sparse(actual, expected, options, tolerances):
    """Entry by entry: those of two tensors that are equal as dense ones can differ."""
    way = str(actual.layout).rsplit("_", 1)[-1].upper()
    for name, of in (("sparse dimensions", "sparse_dim"), ("specified values", "_nnz")):
        a, b = getattr(actual, of)(), getattr(expected, of)()
        if a != b:
            raise _Mismatch(
                f"The number of {name} in sparse {way} tensors does not match: {a} != {b}"
            )
    indices = {
        "COO": ("_indices",), "CSR": ("crow_indices", "col_indices"),
        "CSC": ("ccol_indices", "row_indices"),
    }[way]  # fmt: skip
    for name in indices:
        a, b = (getattr(t, name)().long() for t in (actual, expected))
        _compare_dense(f"Sparse {way} {name.lstrip('_')}", a, b, False, 0, 0)
    values = "_values" if way == "COO" else "values"
    a, b = (getattr(t, values)() for t in (actual, expected))
    _compare_dense(f"Sparse {way} values", a, b, options["equal_nan"], *tolerances)


def _compare_dense(title, actual, expected, equal_nan, rtol, atol):
    close = _C.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if close.all():
        return
    if actual.dim() == 0:
        _fail_numbers(actual.item(), expected.item(), rtol, atol)
    if actual.is_floating_point() and actual.itemsize == 1:
        first = tuple((~close).nonzero()[0].tolist())
        raise _Mismatch(
            f"{title} are not 'equal'!\n\nThe first mismatched element is at index {first}."
        )
    _fail_tensors(title, actual, expected, close, rtol, atol)


def _fail_tensors(title, actual, expected, close, rtol, atol):
    count, wrong = close.numel(), int((~close).sum())
    exact = rtol == 0 and atol == 0
    absolute = (actual - expected).abs()
    relative = absolute / expected.abs()
    lines = [
        f"{title} are not {'equal' if exact else 'close'}!\n",
        f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})",
    ]
    for kind, off, allowed in (("absolute", absolute, atol), ("relative", relative, rtol)):
        off = off.masked_fill(close, 0)  # what is close enough is not the greatest
        worst = int(off.argmax())
        limit = "" if exact else f" (up to {allowed} allowed)"
        index = []
        flat = worst
        for size in reversed(off.shape):
            flat, within = divmod(flat, size)
            index.insert(0, within)
        value = off.reshape(-1)[worst].item()
        lines.append(f"Greatest {kind} difference: {value} at index {tuple(index)}{limit}")
    raise _Mismatch("\n".join(lines))


_OLDER_TOLERANCES = {_C.float16: (1e-3, 1e-3), _C.float32: (1e-4, 1e-5), _C.float64: (1e-5, 1e-8)}


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The older form of assert_close, which does not compare dtypes.

    Args: as of assert_close.

    Shape: as of assert_close().

    >>> import warnings; warnings.simplefilter("ignore")
    >>> torch.testing.assert_allclose(torch.tensor([1.0]), [1.0])
    """
    import warnings

    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, _C.Tensor):
        actual = _C.tensor(actual)
    if not isinstance(expected, _C.Tensor):
        expected = _C.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        both = [_OLDER_TOLERANCES.get(each.dtype, (0.0, 0.0)) for each in (actual, expected)]
        rtol, atol = map(max, zip(*both, strict=True))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False,
        msg=msg or None,
    )  # fmt: skip
