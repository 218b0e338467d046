"""torchvision.ops that sample images: by hand, element by element, and by finite differences.

The figures are those of torchvision 0.29.2 (on torch 2.15) on the same numbers.
"""

import math

import pytest

import rushlight as torch
from rushlight.vision import ops


def waves(*shape):
    """Numbers without a pattern of the size of a pixel."""
    count = math.prod(shape)
    return (torch.arange(count, dtype=torch.float64) * 1.7).sin().reshape(shape)


ROWS = torch.tensor(
    [[0, 0.3, 0.7, 5.5, 6.2], [1, -3, 2, 20, 5], [0, 2, 2, 2.2, 2.3], [1, 5, 5, 3, 4]],
    dtype=torch.float64,
)


@pytest.mark.parametrize(
    ("ratio", "total", "last"), [(-1, 4.3095614, math.nan), (2, 5.3281524, 0.702619)]
)
def test_bins_with_channels_of_their_own(ratio, total, last, device):
    images = waves(2, 12, 9, 7).to(device)
    found = ops.ps_roi_align(images, ROWS.to(device), (2, 3), 0.5, ratio)
    assert found.shape == (4, 2, 2, 3)
    assert found.nansum().item() == pytest.approx(total, abs=1e-5)
    assert found[3, 1, 1, 2].item() == pytest.approx(last, abs=1e-5, nan_ok=True)
    layer = ops.PSRoIAlign((2, 3), 0.5, ratio)(images, ROWS.to(device))
    assert torch.allclose(layer, found, equal_nan=True)


@pytest.mark.parametrize(("scale", "total"), [(1.0, -8.8208223), (0.5, 8.9333294)])
def test_means_of_bins(scale, total, device):
    images = waves(2, 12, 9, 7).to(device)
    found = ops.ps_roi_pool(images, ROWS.to(device), (2, 3), scale)
    assert found.shape == (4, 2, 2, 3)
    assert found.sum().item() == pytest.approx(total, abs=1e-5)
    assert torch.equal(ops.PSRoIPool((2, 3), scale)(images, ROWS.to(device)), found)


def test_a_bin_reads_its_own_channel():
    images = torch.arange(8.0).reshape(1, 8, 1, 1).expand(1, 8, 6, 6)
    for call in (ops.ps_roi_align, ops.ps_roi_pool):
        found = call(images, torch.tensor([[0, 1.0, 1.0, 5.0, 5.0]]), 2)
        assert torch.equal(found, torch.arange(8.0).reshape(1, 2, 2, 2))
        with pytest.raises(RuntimeError, match="must be a multiple of pooling height"):
            call(images, torch.zeros(1, 5), 3)
        with pytest.raises(RuntimeError, match="output_size must be positive"):
            call(images, torch.zeros(1, 5), 0)
        assert call(images, torch.zeros(0, 5), 2).shape == (0, 2, 2, 2)
        for image in (1, -1, 1e12):
            with pytest.raises((IndexError, RuntimeError)):
                call(images, torch.tensor([[image, 1.0, 1.0, 5.0, 5.0]]), 2)


def test_gradients_of_bins():
    images = waves(2, 4, 5, 4).requires_grad_()
    rows = ROWS[:2].clamp(max=4)
    for call in (ops.ps_roi_align, ops.ps_roi_pool):
        assert torch.autograd.gradcheck(lambda x, call=call: call(x, rows, 2), images)


def sample(image, y, x):
    """One bilinear sample of a plane with zeros around it."""
    total = 0.0
    for row in (math.floor(y), math.floor(y) + 1):
        for column in (math.floor(x), math.floor(x) + 1):
            if 0 <= row < image.shape[0] and 0 <= column < image.shape[1]:
                total += image[row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return total


def convolved_by_hand(x, offset, weight, mask, stride, padding, dilation):
    """deform_conv2d() of one image, sample by sample."""
    (out, per_group, kh, kw), (oh, ow) = weight.shape, offset.shape[1:]
    parts = offset.shape[0] // (2 * kh * kw)
    found = torch.zeros(out, oh, ow, dtype=torch.float64)
    for o in range(out):
        group = o // (out // (x.shape[0] // per_group))
        for c in range(per_group):
            channel = group * per_group + c
            part = channel // (x.shape[0] // parts) * kh * kw
            for i in range(oh):
                for j in range(ow):
                    for k in range(kh * kw):
                        dy, dx = offset[2 * (part + k) : 2 * (part + k) + 2, i, j]
                        y = i * stride - padding + k // kw * dilation + dy
                        z = j * stride - padding + k % kw * dilation + dx
                        value = sample(x[channel], y, z) * weight[o, c, k // kw, k % kw]
                        found[o, i, j] += value * mask[part + k, i, j]
    return found


@pytest.mark.parametrize(
    ("parts", "groups", "stride", "padding", "dilation"), [(1, 1, 1, 1, 1), (2, 2, 2, 1, 2)]
)
def test_deformable_convolution(parts, groups, stride, padding, dilation, device):
    x, weight = waves(2, 4, 5, 6), waves(2, 4 // groups, 3, 2)
    oh = (5 + 2 * padding - 2 * dilation - 1) // stride + 1
    ow = (6 + 2 * padding - dilation - 1) // stride + 1
    offset, mask = waves(2, 12 * parts, oh, ow) * 3, waves(2, 6 * parts, oh, ow)
    given = [t.to(device) for t in (x, offset, weight)]
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    found = ops.deform_conv2d(*given, mask=mask.to(device), **options)
    arrays = [t.numpy() for t in (x, offset, mask)]
    for i in range(2):
        image, moved, factors = (a[i] for a in arrays)
        by_hand = convolved_by_hand(image, moved, weight.numpy(), factors, **options)
        assert torch.allclose(found[i].cpu(), by_hand)


def test_without_offsets_it_is_a_convolution():
    x, weight, bias = waves(1, 4, 6, 5), waves(6, 2, 3, 3), waves(6)
    layer = ops.DeformConv2d(4, 6, 3, stride=2, padding=1, groups=2).double()
    layer.load_state_dict({"weight": weight, "bias": bias})
    plain = torch.nn.functional.conv2d(x, weight, bias, 2, 1, groups=2)
    assert torch.allclose(layer(x, torch.zeros(1, 18, 3, 3, dtype=torch.float64)), plain)
    shown = "DeformConv2d(4, 6, kernel_size=(3, 3), stride=(1, 1), groups=2, bias=False)"
    assert repr(ops.DeformConv2d(4, 6, 3, groups=2, bias=False)) == shown
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        ops.DeformConv2d(3, 4, 3, groups=2)


def test_gradients_of_a_deformable_convolution():
    given = [waves(1, 2, 4, 4), waves(1, 8, 3, 3) * 0.4 + 0.05, waves(2, 2, 2, 2), waves(2)]
    mask = waves(1, 4, 3, 3)
    given = [t.requires_grad_() for t in (*given, mask)]
    assert torch.autograd.gradcheck(
        lambda x, o, w, b, m: ops.deform_conv2d(x, o, w, b, mask=m), given
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"offset": (1, 19, 3, 3)}, r"offset.shape\[1\] is not valid: got: 19 expected: 18"),
        ({"offset": (1, 17, 3, 3)}, "offset tensor at dimension 1 is not valid"),
        ({"offset": (2, 18, 3, 3)}, "invalid batch size of offset"),
        ({"offset": (1, 18, 3, 4)}, r"offset output dims: \(3, 4\) - computed output dims"),
        ({"mask": (1, 8, 3, 3)}, r"mask.shape\[1\] is not valid: got: 8 expected: 9"),
        ({"weight": (4, 3, 3, 3)}, "do not form groups"),
        ({"weight": (4, 0, 3, 3)}, "do not form groups"),
        ({"weight": (4, 2, 9, 9)}, "offset"),
        ({"input": (2, 5, 5)}, "Expected 4-dimensional input"),
    ],
)
def test_what_a_deformable_convolution_refuses(change, words):
    shapes = {"input": (1, 4, 5, 5), "offset": (1, 18, 3, 3), "weight": (4, 4, 3, 3)} | change
    with pytest.raises(RuntimeError, match=words):
        ops.deform_conv2d(**{name: torch.zeros(shape) for name, shape in shapes.items()})
    with pytest.raises(RuntimeError, match="stride and dilation must be positive"):
        ops.deform_conv2d(*[torch.zeros(1, 2, 1, 1)] * 3, stride=0)


def test_regions_of_several_maps():
    maps = {name: waves(1, 2, 64 >> i, 48 >> i) for i, name in enumerate("abc")}
    boxes = torch.tensor(
        [[0, 0, 50, 60], [10, 10, 200, 180], [4, 4, 120, 125.0]], dtype=torch.float64
    )
    pool = ops.MultiScaleRoIAlign(["a", "b", "c"], 3, 2)
    found = pool(maps, [boxes], [(256, 192)])
    assert pool.scales == [0.25, 0.125, 0.0625]
    assert pool.map_levels([boxes]).tolist() == [0, 1, 1]
    for i, name in enumerate("abb"):
        scale = maps[name].shape[-1] / 192
        alone = ops.roi_align(maps[name], [boxes[i : i + 1]], 3, scale, 2)
        assert torch.allclose(found[i], alone[0])
    one = ops.MultiScaleRoIAlign(["b"], (2, 3), -1)(maps, [boxes], [(256, 192)])
    assert torch.allclose(one, ops.roi_align(maps["b"], [boxes], (2, 3), 0.125))
    with pytest.raises(ValueError, match="images list should not be empty"):
        pool(maps, [], [])
