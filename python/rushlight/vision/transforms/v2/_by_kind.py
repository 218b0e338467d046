"""The kernels of transforms.v2.functional by name: crop_image, crop_mask, crop_bounding_boxes, ...

They take plain tensors, and what else a kind says (its format and canvas) as arguments. Each calls
the function of all kinds and returns a plain tensor.
"""

import rushlight

from ... import tv_tensors
from ._kernels import plain

# Parameters after the tensor, in torchvision's order: of masks; of boxes; of key points.
PLACED = {
    "horizontal_flip": ("", "format canvas_size", "canvas_size"),
    "vertical_flip": ("", "format canvas_size", "canvas_size"),
    "resize": ("size interpolation max_size", "canvas_size size max_size format clamping_mode",
               "size canvas_size max_size"),
    "crop": ("top left height width", "format top left height width clamping_mode",
             "top left height width"),
    "center_crop": ("output_size", "format canvas_size output_size clamping_mode",
                    "canvas_size output_size"),
    "resized_crop": ("top left height width size",
                     "format top left height width size clamping_mode",
                     "top left height width size"),
    "pad": ("padding fill padding_mode", "format canvas_size padding padding_mode clamping_mode",
            "canvas_size padding padding_mode"),
    "rotate": ("angle expand center fill", "format canvas_size angle expand center clamping_mode",
               "canvas_size angle expand center"),
    "affine": ("angle translate scale shear fill center",
               "format canvas_size angle translate scale shear center clamping_mode",
               "canvas_size angle translate scale shear center"),
    "perspective": ("startpoints endpoints fill",
                    "format canvas_size startpoints endpoints clamping_mode",
                    "canvas_size startpoints endpoints"),
    "elastic": ("displacement fill", "format canvas_size displacement clamping_mode",
                "canvas_size displacement"),
}  # fmt: skip
# Whose kernels of boxes and of key points return the canvas too.
SIZED = set("resize crop center_crop resized_crop pad rotate".split())
COLOURS = (
    "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation adjust_sharpness "
    "autocontrast equalize erase five_crop gaussian_blur gaussian_noise invert jpeg normalize "
    "permute_channels posterize solarize ten_crop to_dtype get_dimensions get_num_channels get_size"
).split()
IMAGES = ("grayscale_to_rgb", "rgb_to_grayscale")  # not of videos


def bound(name, parameters, args, kwargs):
    """The arguments by name."""
    names = parameters.split()
    if len(args) > len(names):
        raise TypeError(
            f"{name}() takes {len(names) + 1} arguments, but {len(args) + 1} were given"
        )
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key in given or key not in names:
            raise TypeError(f"{name}() got a wrong or repeated argument {key!r}")
        given[key] = value
    return given


def of_pixels(function):
    """Of images or of videos: the function itself."""
    return lambda inpt, *args, **kwargs: function(plain(inpt), *args, **kwargs)


def of_masks(name, function):
    """Of masks, whose values are never mixed."""

    def kernel(mask, *args, **kwargs):
        given = bound(f"{name}_mask", PLACED[name][0], args, kwargs)
        given.pop("interpolation", None)
        return plain(function(mask.as_subclass(tv_tensors.Mask), **given))

    return kernel


def of_boxes(name, function):
    """Of boxes, with their format."""

    def kernel(bounding_boxes, *args, **kwargs):
        given = bound(f"{name}_bounding_boxes", PLACED[name][1], args, kwargs)
        boxes = tv_tensors.BoundingBoxes(
            plain(bounding_boxes), format=given.pop("format", "XYXY"),
            canvas_size=given.pop("canvas_size", (1, 1)),
            clamping_mode=given.pop("clamping_mode", "soft"),
        )  # fmt: skip
        found = function(boxes, **given)
        return (plain(found), found.canvas_size) if name in SIZED else plain(found)

    return kernel


def of_points(name, function):
    """Of key points."""

    def kernel(keypoints, *args, **kwargs):
        given = bound(f"{name}_keypoints", PLACED[name][2], args, kwargs)
        points = tv_tensors.KeyPoints(
            plain(keypoints), canvas_size=given.pop("canvas_size", (1, 1))
        )
        found = function(points, **given)
        sized = name in SIZED or name == "affine"
        return (plain(found), found.canvas_size) if sized else plain(found)

    return kernel


def kernels(functions):
    """name -> kernel, of a dict of the functions by their names."""
    made = {}
    for name in (*PLACED, *COLOURS, *IMAGES):
        made[f"{name}_image"] = of_pixels(functions[name])
        if name not in IMAGES:
            made[f"{name}_video"] = of_pixels(functions[name])
    for name in PLACED:
        made[f"{name}_mask"] = of_masks(name, functions[name])
        made[f"{name}_bounding_boxes"] = of_boxes(name, functions[name])
        made[f"{name}_keypoints"] = of_points(name, functions[name])
    made["get_size_mask"] = of_pixels(functions["get_size"])
    for name, kernel in made.items():
        kernel.__name__ = kernel.__qualname__ = name
        kernel.__module__ = functions["__name__"]
        function, _, kind = name.partition(next(k for k in KINDS if name.endswith(k)))
        kernel.__doc__ = f"{function}() of plain tensors of the kind {kind or name}."
    return made


KINDS = ("_image", "_video", "_mask", "_bounding_boxes", "_keypoints")


def is_pure_tensor(inpt):
    """Whether it is a tensor without a kind.

    Args:
        inpt: anything.
    """
    return isinstance(inpt, rushlight.Tensor) and not isinstance(inpt, tv_tensors.TVTensor)
