"""Boxes, masks, points and flows in images. The sums are torchvision 0.29's."""

import pytest

import rushlight as torch

utils = torch.vision.utils
IMAGE = (torch.arange(3 * 6 * 8) * 7 % 256).to(torch.uint8).reshape(3, 6, 8)
MASKS = torch.zeros(3, 6, 8, dtype=torch.bool)
MASKS[0, 1:4, 2:5] = MASKS[1, 2:6, 3:8] = True
BOXES = torch.tensor([[1, 1, 5, 4], [2, 0, 7, 5]])
draw_masks, draw_boxes = utils.draw_segmentation_masks, utils.draw_bounding_boxes


@pytest.mark.parametrize(
    ("masks", "arguments", "total"),
    [
        (MASKS, {}, 12302), (MASKS[0], {}, 15289), (MASKS, {"alpha": 0.3, "colors": "red"}, 16720),
        (MASKS, {"colors": ["red", "blue", (1, 2, 3)]}, 14551),
        (MASKS, {"colors": (9, 8, 7)}, 10666), (MASKS[:0], {}, 18056),
        (MASKS[[0, 1, 0, 2, 1]], {}, 10267),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:masks doesn't contain")
def test_masks(masks, arguments, total):
    assert draw_masks(IMAGE, masks, **arguments).sum() == total


@pytest.mark.parametrize(
    ("arguments", "total"),
    [({}, 8692), ({"colors": "red", "width": 2}, 12962), ({"fill": True}, 8274),
     ({"fill": True, "colors": ["red", "blue"]}, 13302)],
)  # fmt: skip
def test_boxes(arguments, total):
    pytest.importorskip("PIL")
    assert draw_boxes(IMAGE, BOXES, **arguments).sum() == total
    assert draw_boxes(IMAGE, BOXES + 0.6, **arguments).sum() == total


def test_floats_and_shades_of_gray():
    pytest.importorskip("PIL")
    assert draw_masks(IMAGE / 255, MASKS).sum().item() == pytest.approx(48.3545, abs=1e-3)
    assert draw_boxes(IMAGE / 255, BOXES).sum().item() == pytest.approx(34.0863, abs=1e-3)
    assert draw_boxes(IMAGE[:1], BOXES, colors="red").sum() == 13416
    labelled = draw_boxes(torch.zeros(3, 40, 40), BOXES * 5, labels=["a", None], colors="red")
    assert labelled.sum() > draw_boxes(torch.zeros(3, 40, 40), BOXES * 5, colors="red").sum()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: draw_masks(IMAGE[:1], MASKS), "Pass an RGB image"),
        (lambda: draw_masks(IMAGE[0], MASKS), "not batches"),
        (lambda: draw_masks(IMAGE, MASKS[:, :3]), "the same height and width"),
        (lambda: draw_masks(IMAGE, MASKS.float()), "must be of dtype bool"),
        (lambda: draw_masks(IMAGE.int(), MASKS), "must be uint8 or float"),
        (lambda: draw_masks(IMAGE, MASKS[None]), r"\(H, W\) or \(batch_size, H, W\)"),
        (lambda: draw_masks(IMAGE, MASKS, colors=["red"]), "but got 1 < 3"),
        (lambda: draw_masks(IMAGE, MASKS, colors=3), "must be a tuple or a string"),
        (lambda: draw_masks(IMAGE, MASKS, colors="nocolor"), "unknown color"),
        (lambda: draw_masks(3, MASKS), "must be a tensor"),
        (lambda: draw_boxes(3, BOXES), "Tensor expected"),
        (lambda: draw_boxes(IMAGE[:2], BOXES), "Only grayscale and RGB"),
        (lambda: draw_boxes(IMAGE, BOXES.flip(1)), "box_convert"),
        (lambda: draw_boxes(IMAGE, BOXES, labels=["a"]), "mismatch"),
    ],
)
def test_refusals(call, words):
    pytest.importorskip("PIL")
    with pytest.raises((ValueError, TypeError), match=words):
        call()


SQUARE = (torch.arange(3 * 20 * 24) * 37 % 256).to(torch.uint8).reshape(3, 20, 24)
POINTS = torch.tensor(
    [[[5.0, 6.0], [12.0, 9.0], [18.0, 15.0]], [[2.0, 2.0], [20.0, 3.0], [9.0, 17.0]]]
)
SEEN = torch.tensor([[1, 0, 1], [1, 1, 1]])


@pytest.mark.parametrize(
    ("arguments", "total"),
    [
        ({}, 183536), ({"colors": (10, 20, 30)}, 142626), ({"colors": "#FF00FF"}, 199326),
        ({"connectivity": [(0, 1), (1, 2)], "colors": "red", "radius": 1, "width": 2}, 214627),
        ({"visibility": SEEN, "connectivity": [(0, 1), (0, 2)], "colors": "red"}, 227815),
        ({"visibility": SEEN[..., None] > 0, "connectivity": [(0, 1), (0, 2)]}, 235292),
    ],
)  # fmt: skip
def test_points(arguments, total):
    pytest.importorskip("PIL")
    assert utils.draw_keypoints(SQUARE, POINTS, **arguments).sum() == total


@pytest.mark.parametrize(
    ("image", "points", "arguments", "error", "words"),
    [
        (3, POINTS, {}, TypeError, "must be a tensor, got <class 'int'>"),
        (SQUARE.int(), POINTS, {}, ValueError, "dtype must be uint8 or float"),
        (SQUARE[None], POINTS, {}, ValueError, "not batches"),
        (SQUARE[:1], POINTS, {}, ValueError, "Pass an RGB image"),
        (SQUARE, POINTS[0], {}, ValueError, "must be of shape"),
        (SQUARE, POINTS, {"visibility": SEEN[:1]}, ValueError, "the same dimensionality"),
    ],
)
def test_points_that_cannot_be_drawn(image, points, arguments, error, words):
    pytest.importorskip("PIL")
    with pytest.raises(error, match=words):
        utils.draw_keypoints(image, points, **arguments)


def test_flows():
    steps = torch.arange(120).float()
    flow = torch.stack([(steps * 0.37).sin() * 3, (steps * 0.11).cos()]).reshape(2, 12, 10)
    picture = utils.flow_to_image(flow)
    assert picture.dtype == torch.uint8 and picture.sum() == 62142
    assert picture.flatten()[8:12].tolist() == [255, 198, 121, 58]
    both = utils.flow_to_image(torch.stack([flow, flow * 2]))
    assert both.shape == (2, 3, 12, 10) and both.sum() == 139055
    assert utils.flow_to_image(torch.zeros(2, 4, 4)).unique().tolist() == [255]
    for wrong, words in ((flow.double(), "of dtype torch.float"), (flow[:1], r"\(2, H, W\) or")):
        with pytest.raises(ValueError, match=words):
            utils.flow_to_image(wrong)
