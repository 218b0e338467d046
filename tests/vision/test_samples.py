"""transforms.v2 of images with boxes, masks, key points and labels, beside torchvision's."""

import json

import numpy
import pytest

import rushlight as torch
from rushlight.vision import tv_tensors
from rushlight.vision.transforms import v2
from tests.vision import samples
from tests.vision.test_networks import close

F = v2.functional
KNOWN = json.loads(samples.FILE.read_text())


@pytest.mark.parametrize("form", ["XYXY", "CXCYWH"])
@pytest.mark.parametrize("name", samples.TRANSFORMS)
def test_a_sample(name, form):
    found = samples.transformed(torch, tv_tensors, v2, name, form)
    known = KNOWN[f"{name}, {form}"]
    assert list(found) == list(known)
    for part, (*words, total, first, canvas, kind) in known.items():
        *own_words, own_total, own_first, own_canvas, own_kind = found[part]
        assert [*own_words, own_canvas, own_kind] == [*words, canvas, kind], part
        assert own_total == pytest.approx(total, rel=1e-4, abs=1e-3), part
        assert own_first == pytest.approx(first, rel=1e-4, abs=1e-4), part


@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
def test_a_mixed_batch(name):
    assert close(samples.mixed(torch, v2, name), KNOWN[name], 1e-5)
    images = torch.zeros(2, 3, 4, 4)
    with pytest.raises(ValueError, match="num_classes must be passed"):
        getattr(v2, name)()(images, torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="does not match the batch size of the labels"):
        getattr(v2, name)(num_classes=2)(images, torch.tensor([0, 1, 1]))
    with pytest.raises(ValueError, match="Expected a batched input"):
        getattr(v2, name)(num_classes=2)(images[0], torch.tensor([0, 1, 1]))


def test_rotation_that_grows_the_image():
    sample = samples.sample(torch, tv_tensors, F, "XYXY")
    found = v2.RandomRotation((30, 30), expand=True)(sample)
    assert found["boxes"].canvas_size == tuple(found["image"].shape[-2:])
    first = found["boxes"][0].tolist()
    assert first == pytest.approx([3.23205, 8.59808, 24.8205, 27.9904], abs=1e-3)


def test_which_tensors_are_images():
    image, label = torch.zeros(3, 8, 8), torch.tensor([1, 2])
    found = v2.Resize((4, 4))([image, label])
    assert found[0].shape == (3, 4, 4) and found[1] is label
    mask = tv_tensors.Mask(torch.zeros(2, 8, 8, dtype=torch.bool))
    found = v2.Resize((4, 4))({"mask": mask, "image": tv_tensors.Image(image), "other": image})
    assert found["mask"].dtype == torch.bool and found["mask"].shape == (2, 4, 4)
    assert found["other"] is image
    empty = tv_tensors.Mask(torch.zeros(0, 8, 8, dtype=torch.uint8))
    assert v2.Resize((4, 5))(empty).shape == (0, 4, 5)


def test_boxes_without_an_image_end():
    boxes = tv_tensors.BoundingBoxes(torch.zeros(0, 4), format="XYXY", canvas_size=(8, 8))
    sample = {"image": tv_tensors.Image(torch.zeros(3, 8, 8)), "boxes": boxes}
    found = v2.RandomIoUCrop(sampler_options=[0.9])(sample)  # nothing can overlap so far
    assert found["image"].shape == (3, 8, 8)
    with pytest.raises(ValueError, match="No bounding boxes were found"):
        v2.RandomIoUCrop()(torch.zeros(3, 8, 8))
    with pytest.raises(ValueError, match="multiple HxW dimensions"):
        v2.RandomCrop(4)(tv_tensors.Image(torch.zeros(3, 9, 8)), boxes)


def test_boxes_that_are_taken_away():
    boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 1.5, 4.0], [5.0, 5.0, 12.0, 7.0]])
    boxes = tv_tensors.BoundingBoxes(boxes, format="XYXY", canvas_size=(8, 8))
    found, valid = F.sanitize_bounding_boxes(boxes)
    assert valid.tolist() == [True, False, False] and len(found) == 1
    clamped, valid = F.sanitize_bounding_boxes(F.clamp_bounding_boxes(boxes))
    assert valid.tolist() == [True, False, True] and clamped[1].tolist() == [5, 5, 8, 7]
    labels = torch.tensor([1, 2, 3])
    masks = tv_tensors.Mask(torch.zeros(3, 8, 8))
    done = v2.SanitizeBoundingBoxes()({"boxes": boxes, "labels": labels, "masks": masks})
    assert done["labels"].tolist() == [1] and done["masks"].shape == (1, 8, 8)
    with pytest.raises(ValueError, match="Could not infer where the labels are"):
        v2.SanitizeBoundingBoxes()({"boxes": boxes})
    assert len(v2.SanitizeBoundingBoxes(labels_getter=None)({"boxes": boxes})["boxes"]) == 1
    with pytest.raises(ValueError, match="must match the number of labels"):
        v2.SanitizeBoundingBoxes()({"boxes": boxes, "labels": labels[:2]})


def test_what_is_missing_or_too_much():
    boxes = tv_tensors.BoundingBoxes([0, 0, 1, 1], format="XYXY", canvas_size=(8, 8))
    plain = torch.zeros(1, 4)
    for call in (
        lambda: F.convert_bounding_box_format(boxes, "XYXY", "XYWH"),
        lambda: F.convert_bounding_box_format(plain, new_format="XYWH"),
        lambda: F.clamp_bounding_boxes(plain),
        lambda: F.clamp_bounding_boxes(boxes, canvas_size=(8, 8)),
        lambda: F.sanitize_bounding_boxes(plain),
        lambda: F.pad(boxes, 1, padding_mode="other"),
        lambda: v2.RandomZoomOut(side_range=(0.5, 2)),
        lambda: v2.RandomHorizontalFlip(2.0),
        lambda: v2.SanitizeBoundingBoxes(min_size=0),
        lambda: v2.JPEG(0),
        lambda: v2.RandomApply([], 2.0),
        lambda: v2.RandomChoice([v2.Identity()], [0.5, 0.5]),
        lambda: tv_tensors.set_return_type("other"),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError, match="Functional resize supports inputs of type"):
        F.resize("image", 3)
    with pytest.raises(TypeError, match="should be a sequence of callables"):
        v2.RandomOrder(v2.Identity())
    with pytest.raises(TypeError, match="No image or video"):
        v2.RandomChannelPermutation()(boxes)


def test_kernels_of_other_kinds():
    class Depth(tv_tensors.TVTensor):
        pass

    depth = torch.zeros(4, 4).as_subclass(Depth)
    assert F.horizontal_flip(depth) is depth  # no kernel is registered for it

    @F.register_kernel(F.horizontal_flip, Depth)
    def flip(inpt):
        return tv_tensors.wrap(inpt + 1, like=inpt)

    assert F.horizontal_flip(depth).sum() == 16
    with pytest.raises(ValueError, match="Can only register kernels on functionals"):
        F.register_kernel(len, Depth)
    with pytest.raises(ValueError, match="Kernels can only be registered for subclasses"):
        F.register_kernel(F.resize, torch.Tensor)


def test_kinds_that_stay():
    boxes = tv_tensors.BoundingBoxes([0, 0, 1, 1], format="XYXY", canvas_size=(8, 8))
    with tv_tensors.set_return_type("TVTensor"):
        assert (boxes + 1).canvas_size == (8, 8)
        assert type(boxes.sum()) is tv_tensors.BoundingBoxes
    assert type(boxes + 1) is torch.Tensor
    assert "canvas_size=(8, 8), clamping_mode=soft)" in repr(boxes)
    points = tv_tensors.KeyPoints([[9, -1]], canvas_size=(4, 4))
    assert F.clamp_keypoints(points).tolist() == [[3, 0]]
    free = tv_tensors.BoundingBoxes(
        [0, 0, 9, 9], format="XYXY", canvas_size=(8, 8), clamping_mode=None
    )
    assert F.crop(free, 0, 0, 4, 4).tolist() == [[0, 0, 9, 9]]


def test_images_as_jpeg():
    pytest.importorskip("PIL")
    image = torch.arange(3 * 16 * 16, dtype=torch.uint8).reshape(3, 16, 16)
    found = v2.JPEG((90, 95))(tv_tensors.Image(image))
    assert type(found) is tv_tensors.Image and found.shape == image.shape
    assert not torch.equal(found, image)
    pixels = numpy.zeros((4, 5, 3), dtype=numpy.uint8)
    assert type(v2.ToImage()(pixels)) is tv_tensors.Image
    frames = tv_tensors.Video(torch.arange(5.0).reshape(5, 1, 1, 1))
    assert v2.UniformTemporalSubsample(3)(frames).flatten().tolist() == [0, 2, 4]


def test_bytes_are_resized_in_fixed_point():  # sums that torchvision 0.29 gives
    values = torch.arange(40 * 40 * 3).remainder(251).to(torch.uint8)
    image = tv_tensors.Image(values.reshape(40, 40, 3).permute(2, 0, 1).contiguous())
    for mode, antialias, shrunk, grown in (
        ("bilinear", True, 382035, 1120101),
        ("bilinear", False, 381572, 1120101),
        ("bicubic", True, 382132, 1120480),
        ("bicubic", False, 381980, 1120763),
    ):
        kind = v2.InterpolationMode(mode)
        small = F.resize(image, [32, 32], kind, antialias=antialias)
        large = F.resize(image[None, None], [50, 60], kind, antialias=antialias)
        assert type(small) is tv_tensors.Image
        assert large.shape == (1, 1, 3, 50, 60)
        assert (small.long().sum().item(), large.long().sum().item()) == (shrunk, grown)
        part = F.resized_crop(image, 0, 0, 40, 40, [32, 32], kind, antialias=antialias)
        assert torch.equal(part, small)
