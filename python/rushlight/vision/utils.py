"""make_grid and save_image, and what draws into images."""

import math
import os

import rushlight

from ._drawing import draw_bounding_boxes, draw_keypoints, draw_segmentation_masks
from ._flow_colours import flow_to_image
from ._pillow import pillow

__all__ = [
    "draw_bounding_boxes",
    "draw_keypoints",
    "draw_segmentation_masks",
    "flow_to_image",
    "make_grid",
    "save_image",
]


def make_grid(
    tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0
):
    """Lay images out on a grid.

    Args:
        tensor: a batch of images, or a list of images of one size.
        nrow: images in a row.
        padding: pixels around each image.
        normalize: stretch to [0, 1], by the smallest and largest value or by `value_range`.
        value_range: (min, max) for `normalize`.
        scale_each: stretch each image by itself.
        pad_value: what the gaps hold.

    Shape:
        (n, c, h, w), (c, h, w) or (h, w) to (c, rows, columns); one channel becomes three.

    Raises:
        TypeError: no tensor and no list of tensors.

    Example:
        >>> from rushlight.vision.utils import make_grid
        >>> make_grid(torch.zeros(6, 3, 4, 4), nrow=3).shape
        torch.Size([3, 14, 20])
    """
    if isinstance(tensor, list):
        for item in tensor:
            if not isinstance(item, rushlight.Tensor):
                raise TypeError(
                    "tensor or list of tensors expected, got a list containing " + str(type(item))
                )
        tensor = rushlight.stack(tensor, dim=0)
    elif not isinstance(tensor, rushlight.Tensor):
        raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
    with rushlight.no_grad():
        images = _as_batch(tensor)
        if normalize:
            if value_range is not None and not isinstance(value_range, tuple):
                raise TypeError(
                    "value_range has to be a tuple (min, max) if specified. min and max are numbers"
                )
            images = images.clone()
            for part in images if scale_each else (images,):
                _stretch(part, value_range)
        return _lay_out(images, nrow, padding, pad_value)


def _as_batch(tensor):
    if tensor.dim() == 2:
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 3:
        tensor = tensor.unsqueeze(0)
    if tensor.dim() != 4:
        raise ValueError(f"images of shape (n, c, h, w) expected, got {tuple(tensor.shape)}")
    if tensor.size(1) == 1:
        tensor = rushlight.cat((tensor, tensor, tensor), 1)
    return tensor


def _stretch(part, value_range):
    low, high = value_range or (float(part.min()), float(part.max()))
    part.clamp_(min=low, max=high)
    part.sub_(low).div_(max(high - low, 1e-5))


def _lay_out(images, nrow, padding, pad_value):
    count, channels, image_height, image_width = images.shape
    if count == 1:
        return images.squeeze(0)
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    height, width = image_height + padding, image_width + padding
    grid = images.new_full(
        (channels, height * rows + padding, width * columns + padding), pad_value
    )
    for i in range(count):
        top = i // columns * height + padding
        left = i % columns * width + padding
        grid[:, top : top + image_height, left : left + image_width].copy_(images[i])
    return grid


def save_image(tensor, fp, format=None, **kwargs):
    """Save an image, or a grid of images, to a file.

    A file is replaced only when the new one is complete.

    Args:
        tensor: an image, batch or list of images with values in [0, 1].
        fp: a path or a file that is open for writing.
        format: Pillow's name of the format; by the file's ending if None.
        kwargs: see `make_grid`.

    Raises:
        ModuleNotFoundError: Pillow is not installed.
    """
    grid = make_grid(tensor, **kwargs)
    with rushlight.no_grad():
        pixels = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0)
        pixels = pixels.to("cpu", rushlight.uint8).contiguous().numpy()
    image_module = pillow()
    image = image_module.fromarray(pixels)
    if not isinstance(fp, str | os.PathLike):
        image.save(fp, format=format)
        return
    path = os.fspath(fp)
    if format is None:
        ending = os.path.splitext(path)[1].lower()
        format = image_module.registered_extensions().get(ending)
        if format is None:
            raise ValueError(f"unknown file extension: {ending}\nGive format=, or name it .png.")
    part = f"{path}.part{os.getpid()}"
    try:
        image.save(part, format=format)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
