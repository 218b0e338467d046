"""The kernels of transforms.v2.functional by name, and small transforms, beside torchvision's."""

import json

import pytest

import rushlight as torch
from rushlight.vision import tv_tensors
from rushlight.vision.transforms import v2
from tests.vision import kinds

KNOWN = json.loads(kinds.FILE.read_text())


def same(found, known):
    if isinstance(known, list):
        assert len(found) == len(known)
        return all(same(a, b) for a, b in zip(found, known, strict=True))
    if isinstance(known, float):
        return found == pytest.approx(known, rel=1e-4, abs=1e-4)
    return found == known


def test_all_names_are_there():
    assert not set(KNOWN["names"]) - set(dir(v2.functional))
    assert set(v2.functional.__all__) <= set(dir(v2.functional))


@pytest.mark.parametrize("name", kinds.PLACED)
def test_a_kernel_of_each_kind(name):
    assert same(kinds.placed(torch, tv_tensors, v2.functional, name), KNOWN[name])


@pytest.mark.parametrize("name", kinds.COLOURS)
def test_a_kernel_of_images_and_videos(name):
    assert same(kinds.coloured(torch, tv_tensors, v2.functional, name), KNOWN[name])


@pytest.mark.parametrize("text", kinds.LIST)
def test_a_transform(text):
    found = json.loads(json.dumps(kinds.transformed(torch, tv_tensors, v2, text)))
    assert same(found, KNOWN[text]), found


def test_what_kernels_refuse():
    crop = v2.functional.crop_bounding_boxes
    with pytest.raises(TypeError, match="wrong or repeated argument 'size'"):
        crop(torch.ones(1, 4), "XYXY", 1, 1, 2, 2, size=3)
    with pytest.raises(TypeError, match="takes 7 arguments, but 9 were given"):
        crop(torch.ones(1, 4), *[1] * 8)
    with pytest.raises(TypeError, match="supports a Video or a tensor"):
        v2.functional.get_num_frames(3)
