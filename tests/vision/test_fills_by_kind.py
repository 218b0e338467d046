"""A dict as `fill` of transforms of samples: a value for each kind of part."""

from collections import defaultdict

import pytest

import rushlight as torch
from rushlight.vision import tv_tensors
from rushlight.vision.transforms import v2

IMAGE = tv_tensors.Image(torch.full((3, 8, 8), 9, dtype=torch.uint8))
MASK = tv_tensors.Mask(torch.full((1, 8, 8), 9, dtype=torch.uint8))
TRANSFORMS = [
    lambda fill: v2.Pad(2, fill=fill),
    lambda fill: v2.Pad(2, fill),
    lambda fill: v2.RandomCrop(10, padding=4, fill=fill),
    lambda fill: v2.RandomRotation((45, 45), fill=fill),
    lambda fill: v2.RandomZoomOut(fill, side_range=(3, 3), p=1),
    lambda fill: v2.RandomAffine(0, translate=(0.9, 0.9), fill=fill),
    lambda fill: v2.RandomPerspective(1.0, p=1, fill=fill),
    lambda fill: v2.ElasticTransform(200.0, 1.0, fill=fill),
]


def values(part):
    return set(part.flatten().tolist()) - {9}


@pytest.mark.parametrize("make", TRANSFORMS)
def test_each_kind_has_its_own(make):
    torch.manual_seed(2)
    image, mask = make({tv_tensors.Image: 200, "others": 3})(IMAGE, MASK)
    assert max(values(image)) == 200 and (not values(mask) or 3 in values(mask))
    image, mask = make({tv_tensors.Mask: 5})(IMAGE, MASK)
    assert 0 in values(image) and (not values(mask) or 5 in values(mask))


def test_a_default():
    pad = v2.Pad(1, fill=defaultdict(lambda: [100, 110, 120], {tv_tensors.Mask: 0}))
    image, mask = pad(IMAGE, MASK)
    assert image[:, 0, 0].tolist() == [100, 110, 120] and values(mask) == {0}


def test_a_number_as_before():
    image, mask = v2.RandomZoomOut(7, side_range=(3, 3), p=1)(IMAGE, MASK)
    assert values(image) == {7} and values(mask) == {0}
    with pytest.raises(TypeError, match="Got inappropriate fill arg"):
        v2.Pad(1, fill="x")
