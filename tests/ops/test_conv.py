"""Convolutions against torch: geometry, groups, transposes, both gradients and theirs, words."""

import hypothesis
import numpy
import pytest

import rushlight
from tests.emulator import EMULATED
from tests.ops.nn_compare import array, compare, functional

CASES = [
    ("conv1d", (2, 4, 9), (6, 4, 3), {}),
    ("conv1d", (2, 4, 9), (6, 2, 3), {"stride": 2, "padding": 1, "groups": 2}),
    ("conv2d", (2, 3, 8, 7), (4, 3, 3, 3), {"padding": 1}),
    ("conv2d", (2, 4, 8, 9), (4, 1, 3, 2), {"groups": 4, "stride": (2, 1)}),
    ("conv2d", (1, 3, 9, 9), (2, 3, 3, 3), {"dilation": 2, "padding": (2, 0)}),
    ("conv2d", (8, 3, 4), (5, 8, 1, 1), {}),
    ("conv2d", (2, 3, 7, 7), (4, 3, 2, 4), {"padding": "same"}),
    ("conv2d", (2, 3, 7, 7), (4, 3, 2, 4), {"padding": "valid"}),
    ("conv3d", (1, 2, 4, 5, 6), (3, 2, 2, 3, 2), {"padding": 1, "stride": 2}),
    ("conv_transpose1d", (2, 4, 5), (4, 3, 3), {"stride": 2, "output_padding": 1}),
    ("conv_transpose2d", (2, 4, 5, 6), (4, 3, 3, 3), {"stride": 2, "padding": 1}),
    ("conv_transpose2d", (2, 4, 5, 6), (4, 1, 3, 2), {"groups": 2, "dilation": 2}),
    # kernels of one element that read every second pixel, or fewer
    ("conv1d", (2, 4, 9), (6, 2, 1), {"stride": 2, "groups": 2}),
    ("conv2d", (2, 4, 8, 9), (6, 4, 1, 1), {"stride": (3, 1)}),
    ("conv3d", (1, 2, 4, 5, 6), (3, 2, 1, 1, 1), {"stride": (1, 2, 4)}),
    ("conv_transpose2d", (2, 4, 5, 6), (4, 3, 1, 1), {"stride": (1, 3)}),
    ("conv_transpose2d", (2, 4, 3, 3), (4, 1, 1, 1),
     {"stride": 2, "groups": 2, "dilation": 5, "output_padding": 4}),
    ("conv_transpose3d", (1, 2, 2, 3, 3), (2, 3, 1, 1, 1), {"stride": 2, "output_padding": 1}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("bias", [False, True])
def test_convolutions(reference, device, case, bias):
    name, input_shape, weight_shape, options = CASES[case]
    out = weight_shape[1] * options.get("groups", 1) if "transpose" in name else weight_shape[0]
    arrays = [array(input_shape, 1), array(weight_shape, 2)] + ([array((out,), 3)] if bias else [])
    node = None if len(input_shape) == len(weight_shape) else False
    compare(reference, lambda t, *a: functional(t, name)(*a, **options), arrays, device, node=node)


FLOAT_CASES = [
    ((2, 16, 2, 2), (16, 16, 1, 1), {"stride": 2}),
    ((2, 16, 7, 9), (24, 16, 1, 1), {"stride": 2}),
    ((20, 3, 12, 12), (16, 3, 5, 5), {"padding": 2}),
    ((5, 16, 9, 9), (32, 16, 3, 3), {"stride": 2, "padding": 1}),
    ((2, 8, 16, 16), (8, 1, 3, 3), {"groups": 8, "padding": 1}),
    ((3, 24, 6, 6), (10, 24, 1, 1), {}),
    ((7, 600, 3, 9), (18, 600, 3, 3), {"padding": 1}),
    ((1, 128, 3, 4), (60, 128, 3, 3), {"padding": 1}),
    ((2, 5, 11, 37), (5, 1, 5, 3), {"groups": 5, "padding": (1, 0), "stride": (1, 2)}),
    ((1, 2, 9, 67), (2, 1, 3, 5), {"groups": 2, "padding": (2, 3), "dilation": (1, 2)}),
    ((1, 3, 9, 30), (3, 1, 2, 1), {"groups": 3, "stride": 3}),
    ((2, 3, 18, 50), (3, 1, 7, 7), {"groups": 3, "padding": 3}),
    ((1, 3, 21, 14), (3, 1, 5, 5), {"groups": 3, "padding": 2}),
    ((1, 2, 10, 33), (2, 1, 4, 3), {"groups": 2, "padding": (5, 1)}),
]


@pytest.mark.parametrize("case", FLOAT_CASES, ids=range(len(FLOAT_CASES)))
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_fast_kernels(reference, device, case, dtype):
    input_shape, weight_shape, options = case
    arrays = [array(input_shape, 1), array(weight_shape, 2, 0.2), array(weight_shape[:1], 3)]
    compare(
        reference,
        lambda t, *a: functional(t, "conv2d")(*a, **options),
        arrays,
        device,
        dtype=dtype,
        second=False,
    )


VOLUMES = [
    ((2, 3, 5, 7, 14), (3, 1, 3, 3, 3), {"padding": 1}),
    ((1, 3, 4, 6, 5), (3, 1, 1, 1, 3), {"padding": (1, 0, 2), "stride": (2, 1, 1)}),
    ((1, 3, 5, 9, 33), (3, 1, 2, 4, 3), {"padding": (1, 3, 0), "stride": (1, 2, 1)}),
    ((2, 6, 5, 7, 6), (9, 2, 3, 3, 3), {"padding": 1}),
    ((1, 27, 4, 6, 5), (51, 9, 2, 1, 3), {"padding": (1, 0, 2), "stride": (2, 1, 1)}),
]


@pytest.mark.parametrize("case", range(len(VOLUMES)))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_volumes_of_groups(reference, device, case, dtype):
    input_shape, weight_shape, options = VOLUMES[case]
    arrays = [array(input_shape, 1), array(weight_shape, 2, 0.2), array(weight_shape[:1], 3)]
    compare(
        reference,
        lambda t, *a: functional(t, "conv3d")(*a, groups=3, **options),
        arrays,
        device,
        dtype=dtype,
        second=False,
    )


def test_empty_batch(reference, on_device):
    for t in (rushlight, reference):
        out = functional(t, "conv2d")(t.zeros(0, 3, 8, 8), t.zeros(6, 3, 3, 3))
        assert tuple(out.shape) == (0, 6, 6, 6)


WRONG = [
    lambda t, f: f("conv2d")(t.zeros(2, 3), t.zeros(4, 3, 3, 3)),
    lambda t, f: f("conv2d")(t.zeros(1, 1, 32, 32), t.zeros(6, 3, 5, 5)),
    lambda t, f: f("conv2d")(t.zeros(1, 3, 2, 2), t.zeros(6, 3, 3, 3)),
    lambda t, f: f("conv2d")(t.zeros(1, 3, 8, 8), t.zeros(6, 3, 3, 3), stride=0),
    lambda t, f: f("conv2d")(t.zeros(1, 3, 8, 8), t.zeros(6, 3, 3, 3), padding=-1),
    lambda t, f: f("conv2d")(t.zeros(1, 4, 8, 8), t.zeros(3, 2, 3, 3), groups=2),
    lambda t, f: f("conv2d")(t.zeros(1, 3, 8, 8), t.zeros(6, 3, 3, 3), t.zeros(5)),
    lambda t, f: f("conv2d")(t.zeros(1, 3, 8, 8), t.zeros(6, 3, 3, 3), padding="foo"),
    lambda t, f: f("conv2d")(t.zeros(1, 3, 8, 8), t.zeros(6, 3, 3, 3), groups=0),
    lambda t, f: f("conv_transpose2d")(t.zeros(1, 3, 8, 8), t.zeros(4, 3, 3, 3)),
]


@pytest.mark.parametrize("call", WRONG, ids=range(len(WRONG)))
def test_wrong_calls_say_what_torch_says(reference, call, on_device):
    with pytest.raises(Exception) as theirs:
        call(reference, lambda name: functional(reference, name))
    with pytest.raises(theirs.type) as ours:
        call(rushlight, lambda name: functional(rushlight, name))
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


@hypothesis.given(data=hypothesis.strategies.data())
@hypothesis.settings(
    max_examples=300, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_float_kernels_equal_the_general_one(data, on_device):
    """Small geometries of every kind, in both layouts: float goes other ways than double, which is
    the plain one."""

    def draw(*values):
        return data.draw(hypothesis.strategies.sampled_from(values))

    kernel = [draw(1, 1, 2, 3, 5) for _ in range(2)]
    dilation = [draw(1, 1, 2) for _ in range(2)]
    padding = [draw(0, 0, 1, 2) for _ in range(2)]
    groups = draw(1, 1, 2, 3)
    options = {"stride": [draw(1, 2, 3) for _ in range(2)], "padding": padding}
    options |= {"dilation": dilation, "groups": groups}
    reach = [d * (k - 1) + 1 - 2 * p for d, k, p in zip(dilation, kernel, padding, strict=True)]
    size = [max(1, r) + draw(0, 1, 2, 7) for r in reach]
    x = array((draw(1, 2, 5), groups * draw(1, 2, 8, 17), *size), 1)
    w = array((groups * draw(1, 2, 16, 33), x.shape[1] // groups, *kernel), 2)
    results = []
    rows, last = rushlight.contiguous_format, rushlight.channels_last
    for dtype, form in (("float64", rows), ("float64", last), ("float32", rows), ("float32", last)):
        inputs = [
            rushlight.tensor(x, dtype=getattr(rushlight, dtype)).contiguous(memory_format=form),
            rushlight.tensor(w, dtype=getattr(rushlight, dtype)),
        ]
        out = functional(rushlight, "conv2d")(*(t.requires_grad_() for t in inputs), **options)
        grads = rushlight.autograd.grad(out.square().sum(), inputs)
        results.append([out.detach(), *grads])
    for expected, *got in zip(*results, strict=True):
        for tensor in got:
            close = {"rtol": 2e-3, "atol": 2e-3}
            numpy.testing.assert_allclose(tensor.cpu().double(), expected.cpu(), **close)


@pytest.mark.parametrize(
    "kernel,padding,dilation", [(3, 1, 1), (1, 0, 1), (3, 2, 2), ((2, 5), 0, 1)]
)
@pytest.mark.parametrize("channels,out", [(4, 4), (7, 13), (16, 31)])
def test_bfloat16_is_that_of_float(channels, out, kernel, padding, dilation, device):
    """Processors that multiply bfloat16 have a way of their own; sums are floats on both."""
    f = rushlight.nn.functional
    for size, transposed, form in (
        ((9, 16), False, rushlight.contiguous_format),
        ((33, 31), False, rushlight.contiguous_format),
        ((33, 31), False, rushlight.channels_last),
        ((12, 40), True, rushlight.contiguous_format),
        ((12, 40), True, rushlight.channels_last),
        ((1, 1), False, rushlight.contiguous_format),
    ):
        if size == (1, 1) and kernel != 1:
            continue
        if EMULATED and size == (33, 31):
            continue  # two minutes of the emulator
        x = rushlight.randn(3, channels, *size, device=device).bfloat16()
        x = x.contiguous(memory_format=form)
        pair = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        shape = (channels, out) if transposed else (out, channels)
        w, b = rushlight.randn(*shape, *pair, device=device), rushlight.randn(out, device=device)
        given = {"padding": padding, "dilation": dilation}
        if transposed and dilation > 1:
            given["output_padding"] = 1  # its last row and column see fewer taps
        call = f.conv_transpose2d if transposed else f.conv2d
        check_bfloat16(call, (x, w, b), given)


def check_bfloat16(call, given, options):
    results = []
    for kind in (rushlight.bfloat16, rushlight.float32):
        operands = [t.bfloat16().to(kind).requires_grad_() for t in given]
        y = call(*operands, **options)
        seed = rushlight.ones_like(y).cumsum(-1).remainder(3) - 1
        results.append([y, *rushlight.autograd.grad(y, operands, seed)])
    for ours, expected in zip(*results, strict=True):
        most = expected.abs().max().item()
        rushlight.testing.assert_close(ours.float(), expected, rtol=1e-2, atol=5e-3 * most)


WINDOWS = {  # of which a matrix is made: large kernels of few channels, patches, volumes
    "a stem": ((3, 23, 70), (64, 7, 7), {"stride": 2, "padding": 3}),
    "far apart": (
        (2, 19, 90),
        (64, 5, 9),
        {"stride": (3, 1), "padding": (5, 8), "dilation": (1, 2)},
    ),
    "patches": ((3, 24, 36), (128, 12, 12), {"stride": 12}),
    "a row": ((1, 500), (64, 80), {"stride": 4, "padding": 7}),
    "a volume": ((3, 4, 9, 40), (64, 3, 3, 3), {"stride": (2, 1, 1), "padding": (2, 1, 1)}),
}


@pytest.mark.parametrize("case", WINDOWS)
def test_bfloat16_by_windows(case, device):
    image, kernel, options = WINDOWS[case]
    rushlight.manual_seed(7)
    x = rushlight.randn(2, *image, device=device)
    w = rushlight.randn(kernel[0], image[0], *kernel[1:], device=device)
    b = rushlight.randn(kernel[0], device=device)
    function = getattr(rushlight.nn.functional, f"conv{len(image) - 1}d")
    check_bfloat16(function, (x, w, b), options)
    check_bfloat16(lambda x, w, **o: function(x, w, **o), (x, w), options)


@pytest.mark.parametrize(
    "stride,padding,dilation", [(1, 0, 1), (2, 1, 1), (3, 1, 2), ((1, 2), 1, 1)]
)
@pytest.mark.parametrize("channels,out,groups", [(40, 70, 1), (8, 33, 1), (36, 24, 2)])
def test_bfloat16_of_many_channels(channels, out, groups, stride, padding, dilation, device):
    """Blocks of channels and of columns with edges, and rows of odd lengths one after another."""
    w, b = rushlight.randn(out, channels // groups, 3, 3, device=device), rushlight.randn(out)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    for size, form in (((7, 9), rushlight.contiguous_format), ((11, 40), rushlight.channels_last)):
        x = rushlight.randn(2 if EMULATED else 5, channels, *size, device=device)
        x = x.contiguous(memory_format=form)
        check_bfloat16(rushlight.nn.functional.conv2d, (x, w, b.to(device)), options)


@pytest.mark.parametrize("kernel,padding", [((3, 3), 1), ((1, 3), (0, 1)), ((5, 2), (2, 0))])
@pytest.mark.parametrize("stride,dilation", [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize(
    "channels,out,groups", [(27, 16, 1), (32, 70, 1), (200, 33, 1), (64, 80, 2)]
)
def test_bfloat16_of_pixels(channels, out, groups, stride, dilation, kernel, padding, device):
    """Channels innermost: pixels are rows of tiles, in bands of a large image."""
    rushlight.manual_seed(0)
    w, b = rushlight.randn(out, channels // groups, *kernel, device=device), rushlight.randn(out)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    for size in ((5, 7),) if EMULATED else ((9, 11), (12, 40), (60, 90)):
        x = rushlight.randn(2, channels, *size, device=device)
        x = x.contiguous(memory_format=rushlight.channels_last)
        check_bfloat16(rushlight.nn.functional.conv2d, (x, w, b.to(device)), options)


@pytest.mark.parametrize("kernel", [3, 5, 7, (3, 7), (7, 5), (5, 2)])
@pytest.mark.parametrize("channels", [8, 12, 24, 80])
def test_depthwise_channels_last_is_that_of_rows(kernel, channels, device):
    """Taps that lie side by side are read once for all pixels of a block."""
    T = rushlight
    T.manual_seed(3)
    pair = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    w, b = T.randn(channels, 1, *pair, device=device), T.randn(channels, device=device)
    for size, given in (
        ((9, 21), {"padding": tuple(k // 2 for k in pair)}),
        ((8, 12), {"padding": 1}),
        ((7, 7), {}),
        ((9, 23), {"padding": 2, "stride": (2, 1)}),
        ((15, 19), {"padding": 3, "dilation": (2, 1)}),
    ):
        x = T.randn(2, channels, *size, device=device)
        results = []
        for form in (T.contiguous_format, T.channels_last):
            operands = [x.contiguous(memory_format=form).requires_grad_(), w.requires_grad_()]
            y = T.nn.functional.conv2d(*operands, b, groups=channels, **given)
            results.append([y, *T.autograd.grad(y.square().sum(), operands)])
        for rows, last in zip(*results, strict=True):
            T.testing.assert_close(last, rows, rtol=1e-4, atol=1e-3)


def check_channels_last_is_rows(x, w, b, stride, padding, dilation, groups):
    """Of whole numbers, so that sums are exact."""
    T, f = rushlight, rushlight.nn.functional
    volume = x.dim() == 5
    conv, back = (f.conv3d, f.conv_transpose3d) if volume else (f.conv2d, f.conv_transpose2d)
    last = T.channels_last_3d if volume else T.channels_last
    operands, results = [t.requires_grad_() for t in (x, w, b)], []
    for form in (T.contiguous_format, last):
        y = conv(x.contiguous(memory_format=form), w, b, stride, padding, dilation, groups)
        grad = T.arange(y.numel(), device=x.device).reshape(y.shape).remainder(7).to(x.dtype)
        grad = grad.contiguous(memory_format=form)
        given = (stride, padding, 0, groups, dilation)
        results.append([y, *T.autograd.grad(y, operands, grad), back(grad, w, None, *given)])
    assert x.device.type != "cpu" or results[1][0].is_contiguous(memory_format=last)
    for expected, got in zip(*results, strict=True):
        assert T.equal(expected, got)


def whole_numbers(dtype, device, *shapes):
    rushlight.manual_seed(4)
    return [rushlight.randint(-4, 5, s, device=device).to(dtype) for s in shapes]


@pytest.mark.parametrize(
    "stride,padding,dilation", [(1, 1, 1), (2, 0, 1), (1, 3, 2), ((1, 3), 1, 1)]
)
@pytest.mark.parametrize("channels,out,groups", [(40, 3, 1), (36, 24, 2), (5, 70, 5)])
@pytest.mark.parametrize("dtype", [rushlight.float32, rushlight.float64])
def test_channels_last_is_that_of_rows(
    dtype, channels, out, groups, stride, padding, dilation, device
):
    """Pixels go by in bands, of several images."""
    size = (7, 9) if EMULATED else (13, 17)
    shapes = (3, channels, *size), (out, channels // groups, 3, 3), (out,)
    given = whole_numbers(dtype, device, *shapes)
    check_channels_last_is_rows(*given, stride, padding, dilation, groups)


@pytest.mark.parametrize(
    "stride,padding,dilation",
    [(1, 1, 1), ((1, 2, 1), (2, 0, 1), (1, 1, 2)), ((1, 1, 3), 1, 1), (2, 1, 1)],
)
@pytest.mark.parametrize("channels,out", [(3, 5), (16, 16), (20, 40)])
@pytest.mark.parametrize("size", [(5, 6, 9), (1, 4, 20), (6, 3, 3)])
def test_volume_channels_last_is_that_of_rows(
    size, channels, out, stride, padding, dilation, device
):
    """A plane of results is an image of the planes that it reads, side by side in a pixel."""
    shapes = (2, channels, *size), (out, channels, 3, 2, 3), (out,)
    given = whole_numbers(rushlight.float32, device, *shapes)
    check_channels_last_is_rows(*given, stride, padding, dilation, 1)


@pytest.mark.parametrize("channels,out,groups", [(1, 5, 1), (3, 20, 1), (4, 6, 2), (17, 3, 1)])
@pytest.mark.parametrize(
    "size,kernel,stride,padding",
    [
        ((9, 12), (3, 12), 1, 0),
        ((9, 13), (2, 9), 1, (0, 1)),
        ((8, 12), 4, 4, 0),
        ((9, 11), (2, 3), (3, 3), 1),
        ((1, 30), (1, 17), (1, 2), (0, 3)),
        ((4, 6, 9), (2, 3, 8), 1, 0),
    ],
)
def test_kernels_as_wide_as_the_image(size, kernel, stride, padding, channels, out, groups, device):
    """Where a pixel has few taps the input's gradient goes another way."""
    T, f = rushlight, rushlight.nn.functional
    volume = len(size) == 3
    taps = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    conv, last = (f.conv3d, T.channels_last_3d) if volume else (f.conv2d, T.channels_last)
    shapes = (2, channels, *size), (out, channels // groups, *taps), (out,)
    given = whole_numbers(T.float64, device, *shapes)
    results = []
    for dtype, form in (
        (T.float64, T.contiguous_format),
        (T.float32, T.contiguous_format),
        (T.float32, last),
    ):
        x, w, b = (t.detach().to(dtype) for t in given)
        x = x.contiguous(memory_format=form).requires_grad_()
        y = conv(x, w, b, stride, padding, 1, groups)
        grad = T.arange(y.numel(), device=device).reshape(y.shape).remainder(7).to(dtype)
        results.append([y, T.autograd.grad(y, x, grad)[0]])
    for expected, *got in zip(*results, strict=True):
        for tensor in got:
            assert T.equal(expected, tensor.double())


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32"])
@pytest.mark.parametrize("shape", [(2, 4, 6, 9, 7), (1, 1, 1, 40, 70), (3, 16, 20, 12, 33)])
def test_narrow_integers_wrap_as_int64_cut_to_their_bits(dtype, shape):
    n, channels, results, height, width = shape
    dtype = getattr(rushlight, dtype)
    info = rushlight.iinfo(dtype)

    def numbers(*sizes):
        return rushlight.randint(info.min, info.max, sizes)

    x, w, bias = (
        numbers(n, channels, height, width),
        numbers(results, channels, 3, 3),
        numbers(results),
    )
    narrow = [t.to(dtype) for t in (x, w, bias)]
    for options in ({}, {"padding": 1}, {"stride": 2, "padding": (0, 2)}):
        y = rushlight.nn.functional.conv2d(*narrow, **options)
        assert y.dtype == dtype
        assert y.equal(rushlight.nn.functional.conv2d(x, w, bias, **options).to(dtype))
