"""torchvision.tv_tensors and the functions of transforms.v2."""

import copy

import numpy
import pytest

import rushlight as torch
from rushlight.vision import tv_tensors
from rushlight.vision.transforms.v2 import functional as F

BOXES = tv_tensors.BoundingBoxes([[0, 0, 2, 3]], format="XYXY", canvas_size=[8, 9])


@pytest.mark.parametrize(
    "made", [tv_tensors.Image(torch.ones(3, 4, 5)), tv_tensors.Mask(torch.ones(4, 5)), BOXES]
)
def test_what_keeps_the_kind(made):
    kind = type(made)
    for kept in (made.clone(), made.to(torch.float64), made.detach(), copy.deepcopy(made)):
        assert type(kept) is kind
    for plain in (made + 1, made.sum(), made[0], torch.cat([made, made]), made.float()):
        assert type(plain) is torch.Tensor
    assert type(tv_tensors.wrap(made + 1, like=made)) is kind


def test_boxes_know_their_image():
    assert BOXES.format is tv_tensors.BoundingBoxFormat.XYXY
    for kept in (BOXES.clone(), copy.deepcopy(BOXES), tv_tensors.wrap(BOXES + 1, like=BOXES)):
        assert kept.canvas_size == (8, 9)
        assert kept.format is BOXES.format
    other = tv_tensors.wrap(BOXES + 1, like=BOXES, canvas_size=(1, 1))
    assert other.canvas_size == (1, 1)
    with pytest.raises(ValueError, match="Expected a 1D or 2D tensor, got 3D"):
        tv_tensors.BoundingBoxes(torch.ones(1, 1, 4), format="XYXY", canvas_size=(1, 1))
    with pytest.raises(KeyError):
        tv_tensors.BoundingBoxes([0, 0, 1, 1], format="corners", canvas_size=(1, 1))


def test_gradients():
    image = tv_tensors.Image(torch.ones(1, 2, 2), requires_grad=True)
    (image * 3).sum().backward()
    assert image.grad.tolist() == [[[3, 3], [3, 3]]]


def test_pillow():
    Image = pytest.importorskip("PIL.Image")
    picture = Image.fromarray(numpy.arange(6, dtype=numpy.uint8).reshape(2, 3))
    assert tv_tensors.Image(picture).shape == (1, 2, 3)
    assert F.to_image(picture).tolist() == [[[0, 1, 2], [3, 4, 5]]]
    assert F.get_size(picture) == [2, 3]
    assert F.grayscale_to_rgb(picture).mode == "RGB"


def test_images():
    image = torch.arange(12, dtype=torch.uint8).reshape(1, 3, 4)
    assert type(F.to_image(image)) is tv_tensors.Image
    assert torch.equal(F.to_image(image), image)
    assert torch.equal(F.horizontal_flip(image), image.flip(-1))
    assert torch.equal(F.vertical_flip_image(image), image.flip(-2))
    assert F.to_dtype(image, torch.float32, scale=True).max().item() == pytest.approx(11 / 255)
    assert F.grayscale_to_rgb(image).shape == (3, 3, 4)
    assert F.get_num_channels(image) == 1
    noisy = F.gaussian_noise(torch.full((500,), 0.5), sigma=0.1)
    assert 0.05 < noisy.std() < 0.15
    with pytest.raises(ValueError, match="expected to be in float dtype"):
        F.gaussian_noise(image)
    with pytest.raises(TypeError, match="Input can either be a pure Tensor"):
        F.to_image(3)
