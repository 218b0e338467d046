"""Pooling and resampling of channels_last images: values, gradients and strides are torch's."""

import pytest

import rushlight
from tests.conftest import ask

CASES = {
    "max": lambda f, x: f.max_pool2d(x, 2),
    "max, overlapping": lambda f, x: f.max_pool2d(x, 3, 2, 1),
    "max, dilated": lambda f, x: f.max_pool2d(x, 2, 1, dilation=2, ceil_mode=True),
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
}


@pytest.mark.parametrize("channels", [1, 3, 8])
@pytest.mark.parametrize("case", CASES)
def test_values_gradients_strides(case, channels):
    def results(t):
        shape = (2, channels, 7, 6)
        x = t.arange(2 * channels * 42, dtype=t.float64).mul(0.7).sin().view(shape)
        x = x.contiguous(memory_format=t.channels_last)
        without = CASES[case](t.nn.functional, x)
        leaf = x.clone().requires_grad_()
        out = CASES[case](t.nn.functional, leaf)
        g = t.arange(out.numel(), dtype=t.float64).cos().view(out.shape)
        (gradient,) = t.autograd.grad(out, leaf, g.contiguous(memory_format=t.channels_last))
        return [(r.tolist(), list(r.stride())) for r in (without, out, gradient)]

    ours, theirs = results(rushlight), ask(results)
    for k, ((values, strides), (expected, layout)) in enumerate(zip(ours, theirs, strict=True)):
        a, b = (rushlight.tensor(v, dtype=rushlight.float64) for v in (values, expected))
        assert rushlight.allclose(a, b, 1e-9, 1e-12)
        row_major = case.startswith("max") and k == 2  # the gradient of max-pooling is, here
        if channels > 1 and case != "adaptive to one" and not row_major:
            assert strides == layout


@pytest.mark.parametrize("case", [c for c in CASES if c != "max, dilated"])
def test_second_derivatives(case):
    x = rushlight.arange(2 * 3 * 30, dtype=rushlight.float64).mul(0.7).sin().view(2, 3, 6, 5)
    x = x.contiguous(memory_format=rushlight.channels_last).requires_grad_()

    def function(x):
        return CASES[case](rushlight.nn.functional, x) ** 2

    assert rushlight.autograd.gradgradcheck(function, x, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint8"])
def test_layouts_agree(dtype):
    x = rushlight.arange(3 * 5 * 8 * 6).mul(37).remainder(251).view(3, 5, 8, 6)
    x = x.to(getattr(rushlight, dtype))
    last = x.contiguous(memory_format=rushlight.channels_last)
    names = ["nearest", "bilinear"] if dtype == "uint8" else CASES
    for name in names:
        case = CASES[name]
        a, b = case(rushlight.nn.functional, x), case(rushlight.nn.functional, last)
        exact = not name.startswith(("adaptive to", "bi"))
        assert rushlight.equal(a, b) if exact else rushlight.allclose(a, b, 1e-2, 1.0), name


def test_a_volume_is_no_image():
    x = rushlight.rand(2, 4, 4, 4).contiguous(memory_format=rushlight.channels_last)
    expected = rushlight.nn.functional.max_pool3d(x.contiguous(), 2)
    assert rushlight.equal(rushlight.nn.functional.max_pool3d(x, 2), expected)
