"""python -m tests.vision.samples: what torchvision's transforms.v2 makes of samples.

Where torchvision is installed this writes samples.json; test_samples.py asks rushlight the same.
"""

import json
import pathlib

FILE = pathlib.Path(__file__).with_suffix(".json")


def sample(torch, tv, functional, form):
    """An image, a video, boxes, masks, key points and labels."""

    def waves(*shape):
        count = 1
        for size in shape:
            count *= size
        return (torch.arange(count).float() * 0.37).sin().reshape(shape) * 0.5 + 0.5

    boxes = torch.tensor([[2.0, 3.0, 20.0, 15.0], [10.0, 1.0, 31.0, 22.0], [0.0, 0.0, 5.0, 6.0]])
    boxes = tv.BoundingBoxes(boxes, format="XYXY", canvas_size=(24, 32))
    points = torch.tensor([[[3.0, 4.0], [20.0, 10.0]]])
    masks = (torch.arange(3 * 24 * 32) % 7 < 3).reshape(3, 24, 32).to(torch.uint8)
    return {
        "image": tv.Image(waves(3, 24, 32)),
        "video": tv.Video(waves(2, 3, 24, 32)),
        "boxes": functional.convert_bounding_box_format(
            boxes, new_format=tv.BoundingBoxFormat[form]
        ),
        "masks": tv.Mask(masks),
        "points": tv.KeyPoints(points, canvas_size=(24, 32)),
        "labels": torch.tensor([1, 2, 3]),
        "name": "x",
    }


# rotate(expand=True) is left out: torchvision's boxes are then in an image of another size.
TRANSFORMS = {
    "flip": "RandomHorizontalFlip(1.0)",
    "no flip": "RandomHorizontalFlip(0.0)",
    "vertical flip": "RandomVerticalFlip(1.0)",
    "resize": "Resize((12, 20))",
    "resize by the shorter side": "Resize(18)",
    "center crop": "CenterCrop((10, 16))",
    "center crop of more": "CenterCrop((30, 16))",
    "pad": "Pad([1, 2, 3, 4])",
    "crop": "RandomCrop((10, 32))",
    "crop of a padded one": "RandomCrop((30, 20), padding=2, pad_if_needed=True)",
    "resized crop": "RandomResizedCrop((10, 12))",
    "rotation": "RandomRotation((30, 30))",
    "affine": "RandomAffine(20, (0.1, 0.2), (0.8, 1.2), (-10, 10, -5, 5), 'bilinear', 0.3)",
    "affine by angle alone": "RandomAffine((30, 30), center=(3, 4))",
    "perspective": "RandomPerspective(0.5, 1.0, fill=0.4)",
    "nearest perspective": "RandomPerspective(0.8, 1.0, 'nearest')",
    "no perspective": "RandomPerspective(p=0.0)",
    "blur": "GaussianBlur((3, 5))",
    "blur of one deviation": "GaussianBlur(5, 0.7)",
    "some": "RandomApply([Resize(18), RandomHorizontalFlip(1.0)], 0.9)",
    "none": "RandomApply([Resize(18)], 0.0)",
    "choice": "RandomChoice([Resize(18), Pad(3), CenterCrop(9)], [0.1, 0.3, 0.6])",
    "order": "RandomOrder([Resize(18), Pad(3), CenterCrop(9)])",
    "channels": "RandomChannelPermutation()",
    "distortion": "RandomPhotometricDistort(p=1.0)",
    "distortion by chance": "RandomPhotometricDistort()",
    "elastic": "ElasticTransform(60.0, 2.0, fill=0.3)",
    "nearest elastic": "ElasticTransform([90.0, 30.0], [1.0, 2.5], 'nearest')",
    "invert": "RandomInvert(1.0)",
    "posterize": "RandomPosterize(3, 1.0)",
    "solarize": "RandomSolarize(0.4, 1.0)",
    "sharper": "RandomAdjustSharpness(1.7, 1.0)",
    "contrast": "RandomAutocontrast(1.0)",
    "equalize": "RandomEqualize(1.0)",
    "perhaps": "RandomInvert(0.3)",
    "zoom out": "RandomZoomOut(p=1.0)",
    "overlapping crop": "RandomIoUCrop()",
    "overlapping crop by 0.3": "RandomIoUCrop(sampler_options=[0.3])",
    "scale": "ScaleJitter((20, 20))",
    "shortest": "RandomShortestSize([10, 14, 20], 28)",
    "dtype": "ToDtype(torch.float64, scale=True)",
    "dtypes": 'ToDtype({tv.Image: torch.float64, tv.Mask: torch.int64, "others": None})',
    "format": 'ConvertBoundingBoxFormat("XYWH")',
    "normalize": "Normalize([0.5] * 3, [0.2] * 3)",
    "jitter": "ColorJitter(0.3, 0.3, 0.3)",
    "pure": "ToPureTensor()",
    "chain": "Compose([RandomIoUCrop(sampler_options=[0.0]), ClampBoundingBoxes(), "
    "SanitizeBoundingBoxes()])",
}


def transformed(torch, tv, v2, name, form):
    """{part: [kind, dtype, shape, sum, first values, what boxes know]} after a transform."""
    transform = eval(TRANSFORMS[name], vars(v2) | {"torch": torch, "tv": tv})
    torch.manual_seed(1)
    found = transform(sample(torch, tv, v2.functional, form))
    shown = {}
    for part, value in found.items():
        if part == "name":
            continue
        known = [str(getattr(value, word, "")) for word in ("canvas_size", "format")]
        numbers = value.double().flatten()
        kind = [type(value).__name__, str(value.dtype), list(value.shape)]
        shown[part] = [*kind, numbers.sum().item(), numbers[:8].tolist(), *known]
    return shown


def mixed(torch, v2, name):
    """[sum of the images, labels] of a mixed batch."""
    images = torch.arange(4 * 3 * 8 * 8).float().reshape(4, 3, 8, 8)
    torch.manual_seed(3)
    images, labels = getattr(v2, name)(num_classes=3)(images, torch.tensor([0, 1, 2, 1]))
    return [images.sum().item(), images[1, 0, 0].tolist(), labels.flatten().tolist()]


def main():
    import torch
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    known = {
        f"{name}, {form}": transformed(torch, tv_tensors, v2, name, form)
        for name in TRANSFORMS
        for form in ("XYXY", "CXCYWH")
    }
    known |= {name: mixed(torch, v2, name) for name in ("MixUp", "CutMix")}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(known[key])}" for key in known)
    FILE.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
