"""torchvision.ops: closed forms, and figures of torchvision 0.28 on the same boxes."""

import math

import pytest

import rushlight as torch
from rushlight.vision import ops

A = torch.tensor([[0.0, 0.0, 4.0, 2.0], [1.0, 1.0, 3.0, 5.0], [6.0, 0.0, 8.0, 1.0]])
B = torch.tensor([[2.0, 0.0, 6.0, 2.0], [1.0, 1.0, 3.0, 5.0]])


def test_overlaps():
    expected = torch.tensor([[1 / 3, 2 / 14], [1 / 15, 1.0], [0.0, 0.0]])
    assert torch.allclose(ops.box_iou(A, B), expected)
    generalized = ops.generalized_box_iou(A, B)
    assert generalized[0, 0].item() == pytest.approx(1 / 3)
    assert generalized[2, 0].item() == pytest.approx(-2 / 12)
    apart = ops.distance_box_iou(A, B)
    assert apart[0, 0].item() == pytest.approx(1 / 3 - 4 / 40)
    assert apart[1, 1].item() == pytest.approx(1.0)
    ratio = 4 / math.pi**2 * (math.atan(2) - math.atan(0.5)) ** 2
    complete = ops.complete_box_iou(A, B)[0, 1].item()
    overlap = 2 / 14
    weight = ratio / (1 - overlap + ratio)
    assert complete == pytest.approx(overlap - 4 / 41 - weight * ratio, abs=1e-6)


@pytest.mark.parametrize("loss", ["generalized", "distance", "complete"])
def test_losses_are_one_less_the_overlap(loss):
    pair = A[:2].clone().requires_grad_(), B
    each = getattr(ops, f"{loss}_box_iou_loss")(*pair)
    whole = getattr(ops, f"{loss}_box_iou")(*pair).diagonal()
    assert torch.allclose(each, 1 - whole, atol=1e-6)
    function = getattr(ops, f"{loss}_box_iou_loss")
    assert function(*pair, reduction="sum").item() == pytest.approx(each.sum().item())
    assert function(A[:0], B[:0], reduction="mean").item() == 0
    with pytest.raises(ValueError, match="Invalid Value for arg 'reduction': 'most'"):
        function(*pair, reduction="most")
    each.sum().backward()
    assert pair[0].grad.isfinite().all()


@pytest.mark.parametrize("fmt", ["xyxy", "xywh", "cxcywh"])
def test_formats(fmt):
    there = ops.box_convert(A, "xyxy", fmt)
    assert torch.equal(ops.box_convert(there, fmt, "xyxy"), A)
    assert ops.box_area(there, fmt).tolist() == [8, 8, 2]
    assert torch.equal(ops.box_iou(there, there, fmt), ops.box_iou(A, A))
    with pytest.raises(ValueError, match="Unsupported Bounding Box"):
        ops.box_convert(A, fmt, "corners")


def test_what_stays_by_its_definition(device):
    torch.manual_seed(3)
    for n in (0, 1, 60):
        boxes = torch.rand(n, 4) * 10
        boxes[:, 2:] += boxes[:, :2]
        scores, kinds = torch.rand(n), torch.randint(0, 3, (n,))
        overlap = ops.box_iou(boxes, boxes)
        for threshold in (0.0, 0.3, 1.0):
            stays, by_kind = [], []
            for i in scores.argsort(descending=True).tolist():
                if all(overlap[i, k] <= threshold for k in stays):
                    stays.append(i)
                same = (k for k in by_kind if kinds[k] == kinds[i])
                if all(overlap[i, k] <= threshold for k in same):
                    by_kind.append(i)
            found = ops.nms(boxes.to(device), scores.to(device), threshold)
            assert found.device == torch.empty(0, device=device).device
            assert found.tolist() == stays
            moved = (t.to(device) for t in (boxes, scores, kinds))
            assert ops.batched_nms(*moved, threshold).tolist() == by_kind


@pytest.mark.parametrize(
    ("boxes", "scores", "words"),
    [
        ((4,), (1,), "boxes should be a 2d tensor, got 1D"),
        ((2, 3), (2,), "boxes should have 4 elements in dimension 1, got 3"),
        ((2, 4), (2, 1), "scores should be a 1d tensor, got 2D"),
        ((2, 4), (3,), "same number of elements in dimension 0, got 2 and 3"),
    ],
)
def test_what_nms_refuses(boxes, scores, words):
    with pytest.raises(RuntimeError, match=words):
        ops.nms(torch.zeros(boxes), torch.zeros(scores), 0.5)


def test_boxes_that_are_no_boxes():
    strange = torch.tensor([[float("nan")] * 4, [3, 3, 1, 1], [float("inf"), 0, float("inf"), 1]])
    scores = torch.tensor([0.5, float("nan"), 0.1])
    assert sorted(ops.nms(strange, scores, 0.5).tolist()) == [0, 1, 2]
    with pytest.raises(NotImplementedError, match="convert them with"):
        ops.nms(strange.long(), scores, 0.5)


def test_masks_and_images():
    masks = torch.zeros(2, 4, 5)
    masks[0, 1:3, 2:5] = 1
    masks[1, 3, 0] = -1
    assert ops.masks_to_boxes(masks).tolist() == [[2, 1, 4, 2], [0, 3, 0, 3]]
    assert ops.masks_to_boxes(masks[:0]).shape == (0, 4)
    assert ops.clip_boxes_to_image(A - 1, (2, 5)).tolist()[2] == [5, 0, 5, 0]
    assert ops.remove_small_boxes(A, 2).tolist() == [0, 1]


def test_layers_have_torchvisions_names():
    layers = ops.MLP(4, [8, 3], norm_layer=torch.nn.LayerNorm, dropout=0.1)
    names = ["0.weight", "0.bias", "1.weight", "1.bias", "4.weight", "4.bias"]
    assert list(layers.state_dict()) == names
    pyramid = ops.FeaturePyramidNetwork([4, 8], 5)
    assert list(pyramid.state_dict())[:2] == ["inner_blocks.0.0.weight", "inner_blocks.0.0.bias"]
    assert "layer_blocks.1.0.bias" in pyramid.state_dict()
    block = ops.Conv2dNormActivation(3, 8, (3, 5), dilation=2)
    assert block[0].padding == (2, 4)
    assert block[0].bias is None
    assert ops.Conv2dNormActivation(3, 8, norm_layer=None)[0].bias is not None


def test_frozen_statistics():
    torch.manual_seed(0)
    plain = torch.nn.BatchNorm2d(3)
    x = torch.randn(2, 3, 4, 4)
    plain(x)
    frozen = ops.FrozenBatchNorm2d(3)
    frozen.load_state_dict(plain.state_dict())
    assert torch.allclose(frozen(x), plain.eval()(x), atol=1e-6)
    assert not list(frozen.parameters())


@pytest.mark.parametrize("mode", ["batch", "row"])
def test_stochastic_depth(mode):
    x = torch.ones(400, 2)
    y = ops.stochastic_depth(x, 0.25, mode)
    assert set(y.unique().tolist()) <= {0.0, torch.tensor(1 / 0.75).item()}
    if mode == "row":
        assert 0.6 < (y[:, 0] > 0).float().mean() < 0.9
    else:
        assert len(y.unique()) == 1
    assert ops.StochasticDepth(0.25, mode).eval()(x) is x
    with pytest.raises(ValueError, match="drop probability has to be between 0 and 1"):
        ops.stochastic_depth(x, 1.5, mode)


def test_blocks_are_dropped_whole():
    torch.manual_seed(0)
    x = torch.ones(1, 64, 12, 12)
    y = ops.drop_block2d(x, 0.2, 3)
    assert y.mean().item() == pytest.approx(1, abs=1e-4)
    assert 0.1 < (y == 0).float().mean() < 0.3
    assert ops.drop_block3d(torch.ones(1, 2, 4, 4, 4), 0.2, 3).shape == (1, 2, 4, 4, 4)
    with pytest.raises(ValueError, match="input should be 4 dimensional"):
        ops.drop_block2d(x[0], 0.2, 3)
    with pytest.raises(ValueError, match="block size should be odd"):
        ops.drop_block2d(x, 0.2, 2)


def bilinear(image, y, x):
    """One sample, 0 further than a pixel outside."""
    height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    a, b = int(y), int(x)
    c, d = min(a + 1, height - 1), min(b + 1, width - 1)
    top = image[a, b] * (1 - (x - b)) + image[a, d] * (x - b)
    return top * (1 - (y - a)) + (image[c, b] * (1 - (x - b)) + image[c, d] * (x - b)) * (y - a)


def aligned_by_hand(image, box, size, scale, ratio, aligned):
    """roi_align() of one channel, sample by sample."""
    x1, y1, x2, y2 = (v * scale - 0.5 * aligned for v in box)
    w, h = (v if aligned else max(v, 1.0) for v in (x2 - x1, y2 - y1))
    steps = h / size[0], w / size[1]
    grid = [ratio if ratio > 0 else math.ceil(step) for step in steps]
    found = torch.zeros(size, dtype=torch.float64)
    for p in range(size[0]):
        for q in range(size[1]):
            total = sum(
                bilinear(
                    image,
                    y1 + (p + (i + 0.5) / grid[0]) * steps[0],
                    x1 + (q + (j + 0.5) / grid[1]) * steps[1],
                )
                for i in range(grid[0])
                for j in range(grid[1])
            )
            found[p, q] = total / max(grid[0] * grid[1], 1)
    return found


BOXES = [
    (0.5, 1.0, 4.0, 5.0),
    (-3.0, -2.0, 9.0, 3.3),
    (2.0, 2.0, 2.2, 2.1),
    (-9.0, -9.0, -5.0, -5.0),
]


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [-1, 2])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_roi_align(scale, ratio, aligned, device):
    images = torch.arange(2 * 2 * 5 * 6.0, dtype=torch.float64).sin().reshape(2, 2, 5, 6)
    rows = torch.tensor([[i % 2, *box] for i, box in enumerate(BOXES)], dtype=torch.float64)
    given = images.to(device), rows.to(device), (2, 3)
    found = ops.roi_align(*given, scale, ratio, aligned)
    assert found.shape == (4, 2, 2, 3) and found.is_contiguous()
    for i, box in enumerate(BOXES):
        for c in range(2):
            image = images[i % 2, c].numpy()
            by_hand = aligned_by_hand(image, box, (2, 3), scale, ratio, aligned)
            assert torch.allclose(found[i, c].cpu(), by_hand)
    layer = ops.RoIAlign((2, 3), scale, ratio, aligned)
    lists = [rows[::2, 1:].to(device), rows[1::2, 1:].to(device)]
    assert torch.allclose(layer(given[0], lists), found[[0, 2, 1, 3]])


def pooled_by_hand(image, box, size, scale):
    """roi_pool() of one channel, pixel by pixel."""
    x1, y1, x2, y2 = (math.floor(abs(v * scale) + 0.5) * (1 if v >= 0 else -1) for v in box)
    steps = max(y2 - y1 + 1, 1) / size[0], max(x2 - x1 + 1, 1) / size[1]
    found = torch.zeros(size, dtype=torch.float64)
    for p in range(size[0]):
        for q in range(size[1]):
            ends = [
                [
                    min(max(f(k * step) + start, 0), most)
                    for f, k in ((math.floor, n), (math.ceil, n + 1))
                ]
                for n, step, start, most in zip((p, q), steps, (y1, x1), image.shape, strict=True)
            ]
            part = image[ends[0][0] : ends[0][1], ends[1][0] : ends[1][1]]
            found[p, q] = part.max().item() if part.size else 0
    return found


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_roi_pool(scale, device):
    images = torch.arange(2 * 2 * 5 * 6.0, dtype=torch.float64).sin().reshape(2, 2, 5, 6)
    rows = torch.tensor([[i % 2, *box] for i, box in enumerate(BOXES)], dtype=torch.float64)
    found = ops.roi_pool(images.to(device), rows.to(device), (2, 3), scale)
    for i, box in enumerate(BOXES):
        for c in range(2):
            by_hand = pooled_by_hand(images[i % 2, c].numpy(), box, (2, 3), scale)
            assert torch.equal(found[i, c].cpu(), by_hand)
    layer = ops.RoIPool((2, 3), scale)
    assert torch.equal(layer(images.to(device), rows.to(device)), found)


def test_gradients_of_regions():
    images = torch.arange(2 * 1 * 4 * 5.0, dtype=torch.float64).sin().reshape(2, 1, 4, 5)
    images.requires_grad_()
    rows = torch.tensor([[0, 0.3, 0.2, 3.7, 2.9], [1, 1.0, 1.0, 4.0, 3.0]], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: ops.roi_align(x, rows, 2, 1.0, 2, True), images)
    assert torch.autograd.gradcheck(lambda x: ops.roi_pool(x, rows, 2), images)


def test_regions_that_cannot_be():
    images = torch.zeros(2, 3, 4, 4)
    for call in (ops.roi_align, ops.roi_pool):
        assert call(images, torch.zeros(0, 5), 2).shape == (0, 3, 2, 2)
        assert call(images, [torch.zeros(0, 4)] * 2, 2).shape == (0, 3, 2, 2)
        for image in (2, -1, 1e12):
            with pytest.raises((IndexError, RuntimeError)):
                call(images, torch.tensor([[image, 0.0, 0.0, 2.0, 2.0]]), 2)
        with pytest.raises(AssertionError, match="boxes tensor shape is not correct"):
            call(images, torch.zeros(2, 4), 2)
        with pytest.raises(AssertionError, match="boxes list is not correct"):
            call(images, [torch.zeros(2, 5)], 2)
        with pytest.raises(RuntimeError, match="to have the same type"):
            call(images, torch.zeros(2, 5, dtype=torch.float64), 2)
        with pytest.raises(RuntimeError, match="output_size must be positive"):
            call(images, torch.zeros(1, 5), (2, 0))
    for far in (1e9, 1e30, math.inf, math.nan):
        with pytest.raises(RuntimeError, match="the regions have"):
            ops.roi_align(images, torch.tensor([[0.0, 0.0, 0.0, far, far]]), 2)
        ops.roi_pool(images, torch.tensor([[0.0, 0.0, 0.0, far, far]]), 2)
        ops.ps_roi_pool(torch.zeros(2, 4, 4, 4), torch.tensor([[0.0, 0.0, 0.0, far, far]]), 2)
