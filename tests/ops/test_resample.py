"""interpolate against torch: sizes, factors, gradients of gradients, formats, hostile factors."""

import functools
import math

import pytest

import rushlight
from tests.ops.nn_compare import array, compare

MODES = [
    ("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 2), ("linear", 1),
    ("bilinear", 2), ("trilinear", 3), ("bicubic", 2), ("area", 2),
]  # fmt: skip
SIZES = [{"size": 9}, {"size": 2}, {"scale_factor": 2.0}, {"scale_factor": 0.6}]


@pytest.mark.parametrize(("mode", "rank"), MODES)
@pytest.mark.parametrize("options", SIZES, ids=str)
def test_against_torch(reference, device, mode, rank, options):
    for align in (None,) if mode in ("nearest", "nearest-exact", "area") else (False, True):
        compare(
            reference,
            lambda t, x, align=align: t.nn.functional.interpolate(
                x, mode=mode, align_corners=align, **options
            ),
            [array((2, 3, *(5, 6, 7)[:rank]), 1)],
            device,
        )


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(3, 4), (17, 4), (2, 30), (9, 11)])
def test_antialiased(reference, device, mode, size):
    compare(
        reference,
        lambda t, x: t.nn.functional.interpolate(x, size, mode=mode, antialias=True),
        [array((2, 3, 9, 11), 1)],
        device,
    )


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "trilinear"])
@pytest.mark.parametrize("factor", [1.1, 2.1])
def test_a_factor_that_is_not_the_ratio_of_sizes(reference, device, mode, factor):
    """In torch 1.1 keeps five elements, but not always each in its place."""
    rank = 3 if mode == "trilinear" else 2
    results = []
    for library, where in ((rushlight, device), (reference, "cpu")):
        x = library.arange(2.0 * 5**rank, device=where).reshape(1, 2, *[5] * rank)
        y = library.nn.functional.interpolate(x, scale_factor=factor, mode=mode)
        results.append(y.tolist())
    assert rushlight.allclose(rushlight.tensor(results[0]), rushlight.tensor(results[1]))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_images_of_bytes(reference, device, mode, antialias):
    if antialias and mode == "nearest":
        return
    values = [(7919 * i) % 256 for i in range(3 * 9 * 11)]
    results = []
    for library, where in ((rushlight, device), (reference, "cpu")):
        x = library.tensor(values, dtype=library.uint8, device=where).reshape(1, 3, 9, 11)
        y = library.nn.functional.interpolate(x, (5, 17), mode=mode, antialias=antialias)
        assert y.dtype == library.uint8
        results.append(rushlight.tensor(y.tolist()).int())
    # The CPU rounds and clamps between the axes too, in fixed point, as torch's does; GPUs do not.
    near = 0 if mode == "nearest" or device == "cpu" else 24
    assert (results[0] - results[1]).abs().max() <= near


@pytest.mark.parametrize("size", [(5, 17), (32, 32), (60, 50), (7, 90)], ids=str)
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_bytes_are_those_of_fixed_point(reference, device, mode, size):
    values = [(7919 * i * i) % 256 for i in range(3 * 40 * 23)]
    for antialias in (False, True):
        for inside in (False, True):
            results = []
            for library, where in ((rushlight, device), (reference, "cpu")):
                x = library.tensor(values, dtype=library.uint8, device=where)
                x = x.reshape(1, 3, 40, 23)
                if inside:
                    x = x.to(memory_format=library.channels_last)
                y = library.nn.functional.interpolate(x, size, mode=mode, antialias=antialias)
                assert y.is_contiguous(memory_format=library.channels_last) == inside
                results.append(rushlight.tensor(y.flatten()[::7].tolist()).int())
            near = 0 if device == "cpu" else 40  # a GPU rounds once, at the end
            assert (results[0] - results[1]).abs().max() <= near


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_bytes_are_the_same_in_every_layout(mode, antialias, device):
    """Lines are taken sixteen at a time, and rows sixteen bytes: sizes about and below these."""
    sizes = ((1, 1, 1, 1), (1, 3, 17, 20), (2, 2, 16, 35), (1, 4, 7, 130), (1, 40, 19, 3))
    for shape in sizes:
        x = rushlight.arange(math.prod(shape), device=device)
        x = x.square().remainder(251).reshape(shape).to(rushlight.uint8)
        pixels = x.permute(0, 2, 3, 1).contiguous()
        layouts = {
            "channels_last": x.contiguous(memory_format=rushlight.channels_last),
            "permuted": pixels.permute(0, 3, 1, 2),
            "of one": pixels[0].permute(2, 0, 1)[None],
            "transposed": x.transpose(2, 3).contiguous().transpose(2, 3),
        }
        for size in ((16, 16), (33, 5), (shape[2], 18), (3, shape[3]), (1, 1), (40, 70)):
            f = functools.partial(
                rushlight.nn.functional.interpolate, size=size, mode=mode, antialias=antialias
            )
            expected = rushlight.stack([f(image[None, None])[0, 0] for image in x.flatten(0, 1)])
            expected = expected.reshape(*shape[:2], *size)
            assert f(x).equal(expected)
            for name, same in layouts.items():
                images = 1 if name == "of one" else shape[0]
                assert f(same).equal(expected[:images]), (name, shape, size)


def test_one_image_of_pixels_gives_contiguous_planes(reference, device):
    strides = []
    for library, where in ((rushlight, device), (reference, "cpu")):
        for dtype in ("uint8", "float32"):
            x = library.ones(9, 8, 3, dtype=getattr(library, dtype), device=where)
            x = x.permute(2, 0, 1)[None]
            y = library.nn.functional.interpolate(x, (5, 4), mode="bilinear", antialias=True)
            strides.append(y.stride())
    assert strides[:2] == strides[2:]


def test_channels_last(reference, on_device):
    for mode in ("nearest", "bilinear", "bicubic"):
        strides = []
        for library in (rushlight, reference):
            x = library.ones(2, 3, 4, 5).to(memory_format=library.channels_last)
            strides.append(library.nn.functional.interpolate(x, (7, 3), mode=mode).stride())
        assert strides[0] == strides[1]


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "uint8"])
def test_nearest_of_channels_innermost(mode, dtype, device):
    """Runs of channels are copied: the values are those of the images as they usually lie."""
    for shape in ((2, 5, 3, 4), (1, 16, 7, 6), (2, 3, 1, 9)):
        x = rushlight.arange(math.prod(shape), device=device).remainder(251).reshape(shape)
        x = x.to(getattr(rushlight, dtype))
        last = x.contiguous(memory_format=rushlight.channels_last)
        for size in ((6, 8), (5, 9), (14, 3), (3, 11), (1, 1)):
            expected = rushlight.nn.functional.interpolate(x, size=size, mode=mode)
            assert rushlight.nn.functional.interpolate(last, size=size, mode=mode).equal(expected)


def test_infinity_stays_where_it_is(device):
    """Padding of the tables' rows takes no part: 0 * inf would be NaN."""
    x = rushlight.zeros(1, 1, 1, 12, device=device)
    x[..., 0] = float("inf")
    F = rushlight.nn.functional
    y = F.interpolate(x, (1, 5), mode="bilinear", antialias=True)
    assert y[0, 0, 0, 2:].tolist() == [0, 0, 0]


@pytest.mark.parametrize("factor", [1e300, float("inf"), float("nan"), -1.0, 1e-300, 1e12])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_hostile_factors_raise(device, factor, mode):
    with pytest.raises(RuntimeError):
        rushlight.nn.functional.interpolate(
            rushlight.ones(1, 1, 4, 4, device=device), scale_factor=factor, mode=mode
        )


def test_none_in_the_batch(device):
    x = rushlight.ones(0, 2, 4, 4, device=device, requires_grad=True)
    y = rushlight.nn.functional.interpolate(x, (3, 9), mode="bilinear")
    y.sum().backward()
    assert y.shape == (0, 2, 3, 9)
    assert x.grad.shape == x.shape
