"""Boxes, masks and points drawn into images."""

import warnings

import rushlight

from ._pillow import pillow
from .transforms import functional

__all__ = ["draw_bounding_boxes", "draw_keypoints", "draw_segmentation_masks"]


def _checked(image):
    if image.dtype != rushlight.uint8 and not image.is_floating_point():
        raise ValueError(f"The image dtype must be uint8 or float, got {image.dtype}")
    if image.dim() != 3:
        raise ValueError("Pass individual images, not batches")


def _palette(count):
    # Far apart, as those of neighbours should be.
    steps = (2**25 - 1, 2**15 - 1, 2**21 - 1)
    return [tuple(i * step % 255 for step in steps) for i in range(count)]


def _colours(colors, count):
    # (red, green, blue) of each object.
    if colors is None:
        return _palette(count)
    if isinstance(colors, list):
        if len(colors) < count:
            raise ValueError(
                "Number of colors must be equal or larger than the number of objects, but got "
                f"{len(colors)} < {count}."
            )
        found = colors[:count]
    elif isinstance(colors, str | tuple):
        found = [colors] * count
    else:
        raise ValueError(
            f"colors must be a tuple or a string, or a list thereof, but got {colors}."
        )
    if not any(isinstance(each, str) for each in found):
        return [tuple(each) for each in found]
    pillow()
    from PIL import ImageColor

    return [ImageColor.getrgb(e) if isinstance(e, str) else tuple(e) for e in found]


def draw_segmentation_masks(image, masks, alpha=0.8, colors=None):
    """The image with the pixels of masks coloured, and black where masks overlap.

    Args:
        image: (3, height, width), uint8 or floats in [0, 1].
        masks: (height, width), or one for each object (n, height, width); of bool.
        alpha: 0 leaves the image, 1 hides it.
        colors: a name such as "red" or "#ff0000", (red, green, blue), or a list of some; by
            default they are chosen.

    >>> from rushlight.vision.utils import draw_segmentation_masks
    >>> image, mask = torch.zeros(3, 1, 2, dtype=torch.uint8), torch.tensor([[True, False]])
    >>> draw_segmentation_masks(image, mask, alpha=0.5, colors=(100, 0, 40)).tolist()
    [[[50, 0]], [[0, 0]], [[20, 0]]]
    """
    if not isinstance(image, rushlight.Tensor):
        raise TypeError(f"The image must be a tensor, got {type(image)}")
    _checked(image)
    if image.shape[0] != 3:
        raise ValueError("Pass an RGB image. Other Image formats are not supported")
    if masks.dim() == 2:
        masks = masks[None]
    if masks.dim() != 3:
        raise ValueError("masks must be of shape (H, W) or (batch_size, H, W)")
    if masks.dtype != rushlight.bool:
        raise ValueError(f"The masks must be of dtype bool. Got {masks.dtype}")
    if masks.shape[-2:] != image.shape[-2:]:
        raise ValueError("The image and the masks must have the same height and width")
    if not len(masks):
        warnings.warn("masks doesn't contain any mask. No mask was drawn", stacklevel=2)
        return image
    painted = image.detach().clone()
    for mask, colour in zip(masks, _colours(colors, len(masks)), strict=True):
        shade = rushlight.tensor(colour, device=image.device)
        if image.is_floating_point():
            shade = shade / 255
        painted[:, mask] = shade.to(image.dtype)[:, None]
    painted[:, masks.sum(0) > 1] = 0  # of several objects
    return (image * (1 - alpha) + painted * alpha).to(image.dtype)


def draw_bounding_boxes(image, boxes, labels=None, colors=None, fill=False, width=1):
    """The image with boxes, drawn by Pillow.

    Args:
        image: (3 or 1, height, width), uint8 or floats in [0, 1].
        boxes: (n, 4), the corners (x1, y1, x2, y2).
        labels: a text for each box, or None.
        colors: a name such as "red" or "#ff0000", (red, green, blue), or a list of some; by
            default they are chosen.
        fill: whether boxes are filled, so that one sees through.
        width: of the lines, in pixels.

    >>> from rushlight.vision.utils import draw_bounding_boxes
    >>> image, boxes = torch.zeros(3, 4, 4), torch.tensor([[0, 0, 2, 2]])
    >>> draw_bounding_boxes(image, boxes, colors="red")[0]
    tensor([[1., 1., 1., 0.],
            [1., 0., 1., 0.],
            [1., 1., 1., 0.],
            [0., 0., 0., 0.]])
    """
    if not isinstance(image, rushlight.Tensor):
        raise TypeError(f"Tensor expected, got {type(image)}")
    _checked(image)
    if image.shape[0] not in (1, 3):
        raise ValueError("Only grayscale and RGB images are supported")
    if (boxes[:, 0] > boxes[:, 2]).any() or (boxes[:, 1] > boxes[:, 3]).any():
        raise ValueError(
            "Boxes need to be in (xmin, ymin, xmax, ymax) format. Use torchvision.ops.box_convert "
            "to convert them"
        )
    if not len(boxes):
        warnings.warn("boxes doesn't contain any box. No box was drawn", stacklevel=2)
        return image
    if labels is not None and len(labels) != len(boxes):
        raise ValueError(
            f"Number of boxes ({len(boxes)}) and labels ({len(labels)}) mismatch. Please specify "
            "labels for each box."
        )
    colours = _colours(colors, len(boxes))
    pillow()
    from PIL import ImageDraw

    picture = functional.to_pil_image(image.expand(3, -1, -1).cpu())
    draw = ImageDraw.Draw(picture, "RGBA")
    for i, corners in enumerate(boxes.to(rushlight.int64).tolist()):
        inside = (*colours[i], 100) if fill else None
        draw.rectangle(corners, outline=colours[i], width=width, fill=inside)
        if labels is not None and labels[i] is not None:
            at = (corners[0] + width + 1, corners[1] + width + 1)
            draw.text(at, labels[i], fill=colours[i])
    drawn = functional.pil_to_tensor(picture).to(image.device)
    return functional.convert_image_dtype(drawn, image.dtype)


def draw_keypoints(
    image, keypoints, connectivity=None, colors=None, radius=2, width=3, visibility=None
):
    """The image with points of objects, and lines between them; it needs Pillow.

    Args:
        image: (3, height, width), uint8 or floats in [0, 1].
        keypoints: column and row of each point, (objects, points, 2).
        connectivity: pairs of points between which there are lines.
        colors: of the points, a name such as "red" or (red, green, blue); not drawn by default.
        radius: of the points.
        width: of the lines, which are white.
        visibility: which points and their lines are drawn, (objects, points); all by default.

    Raises:
        ValueError: for another dtype or shape.
    """
    if not isinstance(image, rushlight.Tensor):
        raise TypeError(f"The image must be a tensor, got {type(image)}")
    _checked(image)
    if image.shape[0] != 3:
        raise ValueError("Pass an RGB image. Other Image formats are not supported")
    if keypoints.dim() != 3:
        raise ValueError("keypoints must be of shape (num_instances, K, 2)")
    if visibility is None:
        visibility = rushlight.ones(keypoints.shape[:2], dtype=rushlight.bool)
    if visibility.dim() == 3:
        visibility = visibility.squeeze(-1)
    if visibility.dim() != 2 or visibility.shape != keypoints.shape[:2]:
        raise ValueError(
            "keypoints and visibility must have the same dimensionality for num_instances and K. "
            f"Got visibility.shape={visibility.shape} and keypoints.shape={keypoints.shape}"
        )
    pillow()
    from PIL import ImageDraw

    picture = functional.to_pil_image(image.cpu())
    draw = ImageDraw.Draw(picture)
    objects = keypoints.to(rushlight.int64).tolist()
    for points, seen in zip(objects, visibility.bool().tolist(), strict=True):
        for (x, y, *_), drawn in zip(points, seen, strict=True):
            if drawn:
                corners = [x - radius, y - radius, x + radius, y + radius]
                draw.ellipse(corners, fill=colors, outline=None, width=0)
        for first, last in connectivity or ():
            if seen[first] and seen[last]:
                draw.line((*points[first][:2], *points[last][:2]), width=width)
    drawn = functional.pil_to_tensor(picture).to(image.device)
    return functional.convert_image_dtype(drawn, image.dtype)
