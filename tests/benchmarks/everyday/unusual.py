"""Functions of unusual numbers: large, tiny, negative, whole, or some of them infinite or none."""

FUNCTIONS = """
exp log log1p expm1 sqrt rsqrt sin cos tan tanh sigmoid erf erfc lgamma digamma atan asinh round
abs relu floor isfinite nan_to_num sum amax logsumexp sort median cumsum softmax gelu softplus
special.ndtr special.log_ndtr special.erfcx special.expit special.i0e pow atan2 fmod remainder
floor_divide hypot maximum xlogy
""".split()
PAIRS = set("pow atan2 fmod remainder floor_divide hypot maximum xlogy".split())
ALONG = {"softmax": "-1", "logsumexp": "-1", "cumsum": "-1"}
NUMBERS = ("hundreds", "large", "tiny", "negative", "whole", "some infinite", "some zero")


def number_tensor(t, kind, dtype):
    t.manual_seed(0)
    x = t.randn(100, 100).to(dtype)
    if kind == "negative":
        return -5 * t.rand(100, 100).to(dtype) - 0.01
    if kind == "whole":
        return (x * 10).round()
    if kind == "some infinite":
        x[::5], x[1::5] = float("inf"), -float("inf")
    if kind == "some zero":
        x[::3] = 0
    return x * {"hundreds": 100, "large": 1e5, "tiny": 1e-20}.get(kind, 1)


def statement(name):
    function = f"F.{name}" if name in ("gelu", "softplus") else f"t.{name}"
    more = ", y" if name in PAIRS else f", {ALONG[name]}" if name in ALONG else ""
    return f"{function}(x{more})"


def rows():
    """(name, statement, kind of numbers)"""
    for kind in NUMBERS:
        for name in FUNCTIONS:
            yield f"{name}, {kind}", statement(name), kind
