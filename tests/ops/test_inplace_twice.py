"""Second gradients of operations in place are those of the same operations out of place."""

import pytest

import rushlight

CALLS = {
    "log": (), "sin": (), "erf": (), "square": (), "asin": (), "log1p": (), "sinh": (), "cosh": (),
    "exp": (), "tanh": (), "sigmoid": (), "sqrt": (), "lgamma": (), "digamma": (), "abs": (),
    "mul": ("y",), "div": ("y",), "pow": ("y",), "atan2": ("y",), "hypot": ("y",),
    "addcmul": ("y", "z"), "addcdiv": ("y", "z"), "lerp": ("y", "z"), "xlogy": ("y",),
    "clamp": ("y", "z"), "fmod": ("y",), "pow 3": (3,), "float_power": (3,),
    "mvlgamma": (1,), "logit": (0.1,), "clamp_min": ("y",), "copysign": ("y",),
    "addmm": ("m", "m"),
    "erfinv": (), "sinc": (), "i0": (), "nan_to_num": (),
    "cumprod": (0,), "cumsum": (1,), "renorm": (2, 0, 0.5), "tril": (),
    "scatter_reduce prod": (0, "index", "y", "prod"), "index_reduce prod": (0, "rows", "y", "prod"),
    "scatter_reduce amax": (1, "index", "y", "amax"), "index_reduce amin": (0, "rows", "y", "amin"),
    "scatter_reduce mean": (0, "index", "y", "mean"), "index_reduce mean": (0, "rows", "y", "mean"),
}  # fmt: skip
OF_COMPLEX = {
    "mul": ("y",), "div": ("y",), "pow": ("y",), "pow 3": (3,), "square": (), "exp": (), "log": (),
    "sin": (), "cosh": (), "atan": (), "sqrt": (), "reciprocal": (), "sigmoid": (),
    "addcmul": ("y", "z"), "addcdiv": ("y", "z"), "lerp": ("y", "z"), "sgn": (),
    "addmm": ("m", "m"), "cumprod": (0,), "cumsum": (1,), "rsqrt": (), "sinc": (),
}  # fmt: skip
LAYERS = ["elu", "selu", "celu", "silu", "mish", "hardswish", "leaky_relu", "relu6", "hardtanh"]


def real(x):
    return rushlight.view_as_real(x) if x.is_complex() else x


def second(function, *inputs):
    out = real(function(*inputs)).pow(3).sum()
    first = rushlight.autograd.grad(out, inputs, create_graph=True, allow_unused=True)
    total = sum((real(g) * (i + 2)).sum() for i, g in enumerate(first) if g is not None)
    if not total.requires_grad:
        return first, ()
    return first, rushlight.autograd.grad(total, inputs, allow_unused=True)


def values(device):
    x = [[0.2, 0.7, 0.4], [0.9, 0.35, 0.6], [0.5, 0.15, 0.8]]
    t = rushlight.tensor(x, dtype=rushlight.float64, device=device)
    return {"x": t, "y": t.flip(0).contiguous(), "z": t.flip(1) + 0.5, "m": t.mT.contiguous()}


def same(a, b):
    for one, other in zip((*a[0], *a[1]), (*b[0], *b[1]), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            rushlight.testing.assert_close(one, other)


@pytest.mark.parametrize("part", ["whole", "rows"])
@pytest.mark.parametrize(
    "name, turned",
    [(name, 0) for name in CALLS] + [(name, 1j) for name in OF_COMPLEX],
)
def test_operations(device, name, turned, part):
    """Also written to a view of rows, whose base is given the gradient."""
    given, method = (OF_COMPLEX if turned else CALLS)[name], name.split()[0]
    tensors = values(device)
    if turned:
        tensors = {k: t + turned * t.flip(0) for k, t in tensors.items()}
    indices = {
        "index": rushlight.tensor([[0, 1, 2], [1, 1, 0], [2, 0, 1]], device=device),
        "rows": rushlight.tensor([2, 0, 2], device=device),
    }
    given = [indices.get(g, g) if isinstance(g, str) else g for g in given]
    names = ["x", *dict.fromkeys(g for g in given if isinstance(g, str) and g in tensors)]
    inputs = [tensors[n].requires_grad_() for n in names]

    def call(suffix):
        def run(*at):
            by_name = dict(zip(names, at, strict=True))
            args = [by_name.get(g, g) if isinstance(g, str) else g for g in given]
            whole = rushlight.cat([at[0] * 2, at[0] * 1]) if part == "rows" else at[0] * 1
            target = whole[3:] if part == "rows" else whole
            if not suffix:
                return getattr(target, method)(*args)
            getattr(target, method + suffix)(*args)
            return whole[3:] if part == "rows" else whole

        return run

    same(second(call("_"), *inputs), second(call(""), *inputs))


@pytest.mark.parametrize("name", LAYERS)
def test_layers(device, name):
    function = getattr(rushlight.nn.functional, name)
    x = (values(device)["x"] * 8 - 4).requires_grad_()
    same(second(lambda t: function(t * 1, inplace=True), x), second(function, x))
