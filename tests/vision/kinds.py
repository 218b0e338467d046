"""python -m tests.vision.kinds: what torchvision's kernels of each kind of tensor make of them.

Where torchvision is installed this writes kinds.json; test_kinds.py asks rushlight the same.
"""

import json
import pathlib

FILE = pathlib.Path(__file__).with_suffix(".json")
CORNERS = ([[0, 0], [9, 0], [9, 7], [0, 7]], [[1, 0], [8, 1], [9, 6], [0, 7]])
AFFINE = {"angle": 20.0, "translate": [1, 2], "scale": 1.1, "shear": [3.0, 4.0]}
CROP = {"top": 1, "left": 2, "height": 4, "width": 5}
# name -> arguments of all kinds; what the kernels of boxes and key points take before them.
PLACED = {
    "horizontal_flip": ({}, "format canvas_size", "canvas_size"),
    "vertical_flip": ({}, "format canvas_size", "canvas_size"),
    "resize": ({"size": [4, 6]}, "canvas_size", "canvas_size"),
    "crop": (CROP, "format", ""),
    "center_crop": ({"output_size": [4, 4]}, "format canvas_size", "canvas_size"),
    "resized_crop": (CROP | {"size": [3, 3]}, "format", ""),
    "pad": ({"padding": [1, 2]}, "format canvas_size", "canvas_size"),
    "rotate": ({"angle": 20.0}, "format canvas_size", "canvas_size"),
    "affine": (AFFINE, "format canvas_size", "canvas_size"),
    "perspective": (
        {"startpoints": CORNERS[0], "endpoints": CORNERS[1]}, "format canvas_size", "canvas_size",
    ),
}  # fmt: skip
COLOURS = {
    "adjust_brightness": (0.5,), "adjust_contrast": (0.5,), "adjust_gamma": (0.5,),
    "adjust_hue": (0.1,), "adjust_saturation": (0.5,), "adjust_sharpness": (2.0,),
    "autocontrast": (), "equalize": (), "invert": (), "posterize": (3,), "solarize": (0.5,),
    "permute_channels": ([2, 1, 0],), "gaussian_blur": ([3, 3],),
    "normalize": ([0.5] * 3, [0.5] * 3), "five_crop": ([3, 3],), "ten_crop": ([3, 3], True),
    "get_size": (), "get_dimensions": (), "get_num_channels": (),
}  # fmt: skip


def shown(torch, value):
    """Its class, shape, first numbers and sum."""
    if isinstance(value, tuple):
        return [shown(torch, each) for each in value]
    if not isinstance(value, torch.Tensor):
        return value
    numbers = value.double().flatten().tolist()
    return [type(value).__name__, list(value.shape), numbers[:6], sum(numbers)]


def placed(torch, tv, functional, name):
    """A kernel of each kind: of images, videos, masks, boxes and key points."""
    given, *extra = PLACED[name]
    image = (torch.arange(240.0) / 240).reshape(3, 8, 10)
    about = {"format": tv.BoundingBoxFormat.XYXY, "canvas_size": (8, 10)}
    boxes = torch.tensor([[1.0, 2.0, 4.0, 5.0], [3.0, 3.0, 9.0, 7.0]])
    of_boxes, of_points = ({key: about[key] for key in words.split()} for words in extra)
    calls = (
        ("image", image, {}),
        ("video", image[None], {}),
        ("mask", (image[:1] * 200).to(torch.uint8), {}),
        ("bounding_boxes", boxes, of_boxes),
        ("keypoints", boxes[:, :2], of_points),
    )
    return [
        shown(torch, getattr(functional, f"{name}_{kind}")(value, **more, **given))
        for kind, value, more in calls
    ]


def coloured(torch, tv, functional, name):
    """A kernel of images and of videos."""
    image = (torch.arange(240.0) / 240).reshape(3, 8, 10)
    return [
        shown(torch, getattr(functional, f"{name}_{kind}")(value, *COLOURS[name]))
        for kind, value in (("image", image), ("video", image[None]))
    ]


# What transforms that are no other's variant make, and the words of their errors.
TRANSFORMS = """SanitizeKeyPoints()(K, L) | SanitizeKeyPoints("default")({"k": K, "labels": L})
functional.sanitize_keypoints(K) | functional.sanitize_keypoints(K[:, None], canvas_size=(8, 10))
functional.sanitize_keypoints(torch.zeros(2, 2)) | functional.sanitize_keypoints(K, (8, 10))
SanitizeKeyPoints("labels") | SanitizeKeyPoints()(x) | SetClampingMode("x")
SetClampingMode(None)(B).clamping_mode | SetClampingMode("hard")(x, B)[1].clamping_mode
TenCrop((4, 5))(x) | TenCrop(4, True)(tv.Image(x)) | functional.ten_crop(x, [3, 5], True)
TenCrop(20)(x) | TenCrop(2)(x, B) | FiveCrop(3)(tv.Image(x)) | TenCrop((2, 3, 4)) | FiveCrop(2)(x)
LinearTransformation(M, M[0])(x) | LinearTransformation(M, M[0])(tv.Image(x))
LinearTransformation(M[:3], M[0]) | LinearTransformation(M, M[0, :4])
LinearTransformation(M, M[0])(x[:, :4]) | LinearTransformation(M, M[0])(functional.to_pil_image(x))
RandomResize(4, 9)(x) | RandomResize(4, 9)(x, B) | query_chw([x, B]) | query_size([B, x])
query_chw([B]) | query_size([3]) | query_chw([x, x[:1]]) | query_size([x, x[:, :2]])
has_any([x], tv.Image) | has_any([x, 3], lambda o: o is x) | has_all([x, B], tv.BoundingBoxes)
has_all([x], tv.Mask, tv.Image) | check_type(B, (tv.BoundingBoxes,)) | get_bounding_boxes([x, B])
get_keypoints([K]) | get_keypoints([x]) | functional.get_num_frames(tv.Video(x[None]))
functional.is_pure_tensor(x) | functional.is_pure_tensor(B) | tv.is_rotated_bounding_format("XYXY")
functional.get_size_bounding_boxes(B) | functional.get_size_keypoints(K)
functional.uniform_temporal_subsample_video(x[:, None], 2) | functional.get_size_mask(x)
functional.rgb_to_grayscale_image(x) | functional.grayscale_to_rgb_image(x[:1])"""
LIST = [each.strip() for line in TRANSFORMS.splitlines() for each in line.split(" | ")]


def transformed(torch, tv, v2, text):
    points = [[1.0, 2.0], [12.0, 3.0], [-1.0, 0.0], [9.5, 7.0], [10.0, 8.0], [0.0, 0.0]]
    boxes = torch.tensor([[1.0, 2.0, 4.0, 5.0], [3.0, 3.0, 12.0, 9.0]])
    names = {
        "x": (torch.arange(240.0) / 240).reshape(3, 8, 10), "L": torch.arange(6), "torch": torch,
        "K": tv.KeyPoints(torch.tensor(points), canvas_size=(8, 10)), "tv": tv,
        "B": tv.BoundingBoxes(boxes, format="XYXY", canvas_size=(8, 10)),
        "M": torch.eye(240) * 0.5 + 0.25,
    }  # fmt: skip
    torch.manual_seed(3)
    try:
        found = eval(text, vars(v2) | names)
    except (ValueError, TypeError) as error:
        return [type(error).__name__, str(error)]
    return shown(torch, tuple(found.values()) if isinstance(found, dict) else found)


def answers(torch, tv, v2):
    made = {name: placed(torch, tv, v2.functional, name) for name in PLACED}
    made |= {name: coloured(torch, tv, v2.functional, name) for name in COLOURS}
    return made | {text: transformed(torch, tv, v2, text) for text in LIST}


def main():
    import torch
    import torchvision
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    rows = answers(torch, tv_tensors, v2)
    names = sorted(n for n in dir(v2.functional) if not n.startswith("_"))
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items()]
    lines = [f'"torchvision": "{torchvision.__version__}"', f'"names": {json.dumps(names)}', *lines]
    FILE.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
