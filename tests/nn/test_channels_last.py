"""channels_last images pooled, resized, normalised: values, gradients, strides are torch's."""

import pytest

import rushlight
from tests.conftest import ask

CASES = {
    "max": lambda f, x: f.max_pool2d(x, 2),
    "max, overlapping": lambda f, x: f.max_pool2d(x, 3, 2, 1),
    "max, dilated": lambda f, x: f.max_pool2d(x, 2, 1, dilation=2, ceil_mode=True),
    "max, adaptive": lambda f, x: f.adaptive_max_pool2d(x, (2, 3)),
    "indices": lambda f, x: sum(f.max_pool2d(x, 3, 2, 1, return_indices=True)),
    "average": lambda f, x: f.avg_pool2d(x, 2),
    "average, padded": lambda f, x: f.avg_pool2d(x, 3, 2, 1),
    "average, padding not counted": lambda f, x: f.avg_pool2d(x, 3, 2, 1, True, False),
    "average, own divisor": lambda f, x: f.avg_pool2d(x, (2, 3), (1, 2), divisor_override=5),
    "adaptive": lambda f, x: f.adaptive_avg_pool2d(x, (2, 3)),
    "adaptive to one": lambda f, x: f.adaptive_avg_pool2d(x, 1),
    "nearest": lambda f, x: f.interpolate(x, scale_factor=2),
    "nearest to a size": lambda f, x: f.interpolate(x, size=(3, 11)),
    "nearest-exact": lambda f, x: f.interpolate(x, scale_factor=1.5, mode="nearest-exact"),
    "bilinear": lambda f, x: f.interpolate(x, scale_factor=2, mode="bilinear"),
    "bilinear, aligned": lambda f, x: f.interpolate(
        x, size=(4, 9), mode="bilinear", align_corners=True
    ),
    "bicubic": lambda f, x: f.interpolate(x, size=(9, 7), mode="bicubic"),
    "bilinear, smaller": lambda f, x: f.interpolate(
        x, size=(3, 4), mode="bilinear", antialias=True
    ),
    "pointwise convolution": lambda f, x: f.conv2d(x, matrix(x)[:, :, None, None], matrix(x)[:, 0]),
    "pointwise convolution, transposed": lambda f, x: f.conv_transpose2d(
        x, matrix(x)[:, :, None, None], matrix(x)[0]
    ),
    "depthwise convolution": lambda f, x: f.conv2d(
        x, kernels(x), matrix(x)[0], padding=1, groups=x.shape[1]
    ),
    "depthwise convolution in steps": lambda f, x: f.conv2d(
        x, kernels(x), stride=(2, 1), padding=(2, 1), dilation=(1, 2), groups=x.shape[1]
    ),
    "depthwise convolution, transposed": lambda f, x: f.conv_transpose2d(
        x, kernels(x), matrix(x)[0], stride=2, padding=1, groups=x.shape[1]
    ),
    "batch norm": lambda f, x: f.batch_norm(x, *statistics(x), *parameters(x), True),
    "batch norm, bare": lambda f, x: f.batch_norm(x, None, None, training=True),
    "batch norm, evaluation": lambda f, x: f.batch_norm(x, *statistics(x), *parameters(x)),
    "group norm of all": lambda f, x: f.group_norm(x, 1, *parameters(x)),
    "group norm of one": lambda f, x: f.group_norm(x, x.shape[1]),
    "group norm": lambda f, x: f.group_norm(x, 4 if x.shape[1] % 4 == 0 else 1, *parameters(x)),
}


def matrix(x):
    """Of as many rows and columns as there are channels."""
    c = x.shape[1]
    return (x.new_ones(c, c).cumsum(0) * x.new_ones(c, c).cumsum(1)).sin()


def kernels(x):
    return x.new_ones(x.shape[1], 1, 3, 2).reshape(-1).cumsum(0).sin().view(-1, 1, 3, 2)


def parameters(x):
    """A weight and a bias for its channels, of its dtype and library."""
    return x.new_ones(x.shape[1]).cumsum(0).sin(), x.new_ones(x.shape[1]).cumsum(0).cos()


def statistics(x):
    return x.new_full((x.shape[1],), 0.25), x.new_full((x.shape[1],), 1.5)


@pytest.mark.parametrize("channels", [1, 3, 8, 72])
@pytest.mark.parametrize("case", CASES)
def test_values_gradients_strides(device, case, channels):
    def results(t):
        shape = (2, channels, 7, 6)
        x = t.arange(2 * channels * 42, dtype=t.float64).mul(0.7).sin().view(shape)
        x = x.to(device if t is rushlight else "cpu").contiguous(memory_format=t.channels_last)
        without = CASES[case](t.nn.functional, x)
        leaf = x.clone().requires_grad_()
        out = CASES[case](t.nn.functional, leaf)
        g = t.arange(out.numel(), dtype=t.float64).cos().view(out.shape).to(x.device)
        (gradient,) = t.autograd.grad(out, leaf, g.contiguous(memory_format=t.channels_last))
        return [(seen(r).tolist(), list(r.stride())) for r in (without, out, gradient)]

    def seen(r):  # of many channels a weighted sum, so that the records stay small
        if channels < 16:
            return r
        return r.mul(r.new_ones(r.shape[1]).cumsum(0).sin()[:, None, None]).sum(1)

    ours, theirs = results(rushlight), ask(results)
    for (values, strides), (expected, layout) in zip(ours, theirs, strict=True):
        a, b = (rushlight.tensor(v, dtype=rushlight.float64) for v in (values, expected))
        assert rushlight.allclose(a, b, 1e-9, 1e-12)
        # The kernels of a GPU have no layout but rows that are contiguous.
        if device == "cpu" and channels > 1 and case != "adaptive to one":
            assert strides == layout


@pytest.mark.parametrize("case", [c for c in CASES if c != "max, dilated"])
def test_second_derivatives(on_device, case):
    x = rushlight.arange(2 * 3 * 30, dtype=rushlight.float64).mul(0.7).sin().view(2, 3, 6, 5)
    x = x.contiguous(memory_format=rushlight.channels_last).requires_grad_()

    def function(x):
        return CASES[case](rushlight.nn.functional, x) ** 2

    assert rushlight.autograd.gradgradcheck(function, x, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint8"])
def test_layouts_agree(on_device, dtype):
    x = rushlight.arange(3 * 5 * 8 * 6).mul(37).remainder(251).view(3, 5, 8, 6)
    x = x.to(getattr(rushlight, dtype))
    last = x.contiguous(memory_format=rushlight.channels_last)
    names = ["nearest", "bilinear"] if dtype == "uint8" else CASES
    for name in names:
        case = CASES[name]
        a, b = case(rushlight.nn.functional, x), case(rushlight.nn.functional, last)
        exact = not name.startswith(("adaptive to", "ba", "bi", "dep", "group", "point"))
        assert rushlight.equal(a, b) if exact else rushlight.allclose(a, b, 1e-2, 1.0), name


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    "options",
    [
        (7, 1),
        (7, 3, 1, 1),
        (20, (2, 3), 2, 1),
        (5, 3, 2, 1, 1, 5),
        (5, (3, 1), 1, (1, 0), (2, 1), 5),
    ],
)
def test_gradients_of_convolutions(on_device, options, dtype):
    x = rushlight.arange(2 * 5 * 12).sin().view(2, 5, 3, 4).to(getattr(rushlight, dtype))
    found = []
    for form in (rushlight.contiguous_format, rushlight.channels_last):
        rushlight.manual_seed(0)
        m = rushlight.nn.Conv2d(5, *options).to(x.dtype)
        m(x.contiguous(memory_format=form)).square().sum().backward()
        found.append([m.weight.grad, m.bias.grad])
    for a, b in zip(*found, strict=True):
        assert rushlight.allclose(a, b, 2e-2 if dtype == "bfloat16" else 1e-4, 1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "call",
    [
        "f.conv2d(x, w, padding=1)",
        "f.conv2d(x, w[:, :, :1, :1])",
        "f.conv2d(x, w[:, :2], groups=2, stride=2)",
        "f.conv_transpose2d(x, w, padding=1, stride=2)",
    ],
)
@pytest.mark.parametrize("of_input,of_weight", [(False, True), (True, False), (True, True)])
def test_one_operand_channels_last_is_enough(device, call, dtype, of_input, of_weight):
    def results(t):
        def formatted(x, last):
            x = x.to(getattr(t, dtype)).to(device if t is rushlight else "cpu")
            return x.contiguous(memory_format=t.channels_last) if last else x

        x = formatted(t.arange(2.0 * 4 * 25).sin().view(2, 4, 5, 5), of_input)
        w = formatted(t.arange(4.0 * 4 * 9).cos().view(4, 4, 3, 3), of_weight)
        y = eval(call, {"f": t.nn.functional, "x": x, "w": w})
        return y.flatten().tolist(), list(y.stride())

    (values, strides), (expected, layout) = results(rushlight), ask(results)
    assert values == pytest.approx(expected, rel=1e-4, abs=1e-5)
    if device == "cpu":
        assert strides == layout


@pytest.mark.parametrize("groups,in_channels,out_channels", [(1, 17, 33), (2, 48, 10), (1, 16, 32)])
@pytest.mark.parametrize(
    "kernel_size,options",
    [
        ((3, 3), {"padding": 1}),
        ((2, 5), {"padding": (0, 4), "stride": (1, 2)}),
        ((3, 3), {"padding": 5, "dilation": 3}),
        ((1, 1), {"padding": 0, "stride": 2}),
        ((2, 2), {"padding": 0}),
        ((4, 4), {"padding": 1, "stride": 2, "transposed": True}),
    ],
)
def test_float32_convolutions_agree_with_float64(
    on_device, kernel_size, options, groups, in_channels, out_channels
):
    options = dict(options)
    if options.pop("transposed", False):
        convolution, shape = rushlight.conv_transpose2d, (in_channels, out_channels // groups)
    else:
        convolution, shape = rushlight.conv2d, (out_channels, in_channels // groups)
    x = rushlight.arange(2 * in_channels * 9 * 23).mul(0.7).sin().view(2, in_channels, 9, 23)
    w = rushlight.arange(shape[0] * shape[1] * kernel_size[0] * kernel_size[1]).mul(0.3).cos()
    found = []
    for dtype, form in (
        (rushlight.float64, rushlight.contiguous_format),
        (rushlight.float32, rushlight.channels_last),
    ):
        inputs = [
            x.to(dtype).contiguous(memory_format=form),
            w.to(dtype).view(*shape, *kernel_size),
        ]
        inputs.append(rushlight.arange(out_channels).to(dtype))
        y = convolution(*(t.requires_grad_() for t in inputs), groups=groups, **options)
        grad = rushlight.ones_like(y).cumsum(-1).remainder(3).sub(1)
        found.append([y, *rushlight.autograd.grad(y, inputs, grad)])
    for expected, ours in zip(*found, strict=True):
        rushlight.testing.assert_close(ours.double(), expected, rtol=1e-3, atol=1e-3)


VOLUMES = {
    "batch norm": "f.batch_norm(x, None, None, a, b, True)",
    "batch norm, evaluation": "f.batch_norm(x, b.detach(), a.detach() + 2, a, b)",
    "group norm": "f.group_norm(x, 2, a, b)",
    "convolution": "f.conv3d(x, w, padding=1)",
    "convolution by channels_last": "f.conv3d(x.contiguous(), last(w), b[:2])",
    "convolution in steps": "f.conv3d(x, w[..., :1, :1, :1], stride=2)",
    "pointwise convolution": "f.conv3d(x, w[..., :1, :1, :1], b[:2])",
    "depthwise convolution": "f.conv3d(x, w[:, :1].repeat(2, 1, 1, 1, 1), groups=4)",
    "convolution, transposed": "f.conv_transpose3d(x, w.transpose(0, 1), stride=2)",
    "pointwise, transposed": "f.conv_transpose3d(x, w[..., :1, :1, :1].transpose(0, 1))",
    "pad": "f.pad(x, (1, 1, 2, 0))",
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", VOLUMES)
def test_volumes(device, case, dtype):
    def results(t):
        def numbers(*sizes):
            count = t.arange(1.0 * t.empty(sizes).numel(), dtype=t.float64)
            x = count.mul(0.7).sin().view(sizes).to(getattr(t, dtype))
            return x.to(device if t is rushlight else "cpu")

        def last(x):
            return x.contiguous(memory_format=t.channels_last_3d)

        x = last(numbers(2, 4, 3, 4, 5)).requires_grad_()
        w = numbers(2, 4, 2, 3, 2).requires_grad_()
        a, b = numbers(4).requires_grad_(), numbers(5)[1:].requires_grad_()
        names = {"f": t.nn.functional, "x": x, "w": w, "a": a, "b": b, "last": last}
        y = eval(VOLUMES[case], names)
        g = last(numbers(*y.shape))
        grads = t.autograd.grad(y, [x, w, a, b], g, allow_unused=True)
        found = [y, *(g for g in grads if g is not None)]
        strides = [list(r.stride()) for r in found[:2]]
        return [r.detach().flatten().tolist() for r in found], strides

    (ours, strides), (theirs, layout) = results(rushlight), ask(results)
    for values, expected in zip(ours, theirs, strict=True):
        assert values == pytest.approx(expected, rel=1e-3, abs=2e-4)
    if device == "cpu":
        assert strides == layout or case.startswith("pointwise")  # torch's depend on threads


def test_a_volume_is_no_image(on_device):
    x = rushlight.rand(2, 4, 4, 4).contiguous(memory_format=rushlight.channels_last)
    expected = rushlight.nn.functional.max_pool3d(x.contiguous(), 2)
    assert rushlight.equal(rushlight.nn.functional.max_pool3d(x, 2), expected)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(1, 3, 2, 1), (2, 3, 1, 4), (1, 1, 2, 3, 1)])
def test_batch_norm_where_strides_of_one_element_hide_the_format(device, training, shape):
    def results(t):
        x = (
            t.arange(float(t.ones(shape).numel()))
            .view(shape)
            .to(device if t is rushlight else "cpu")
        )
        x = x.movedim(-2, 1).requires_grad_()
        y = t.nn.functional.batch_norm(x, *statistics(x), *parameters(x), training)
        (g,) = t.autograd.grad(y.sin().sum(), x)
        return [y.flatten().tolist(), g.flatten().tolist()], list(y.stride())

    ours, theirs = results(rushlight), ask(results)
    for mine, its in zip(ours[0], theirs[0], strict=True):
        assert mine == pytest.approx(its, rel=1e-4, abs=1e-5)
    if device == "cpu":  # as above
        assert ours[1] == theirs[1]
