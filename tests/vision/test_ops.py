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


def test_what_is_not_there_says_so():
    for name in ("roi_align", "RoIAlign", "deform_conv2d"):
        with pytest.raises(NotImplementedError, match=f"torchvision.ops.{name} is not in"):
            getattr(ops, name)(1, 2)
    with pytest.raises(AttributeError, match="no attribute 'crop'"):
        _ = ops.crop
