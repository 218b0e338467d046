"""Transforms that move pixels, and with them boxes, masks and key points."""

import rushlight

from ... import tv_tensors
from ...ops.boxes import box_iou
from .. import random as _v1_random
from .. import transforms as _v1
from . import functional
from ._boxes import converted
from ._kernels import plain
from ._transform import (
    RandomApplyTransform,
    Transform,
    boxes_of,
    fill_of,
    size_of,
    takes_fills,
)

__all__ = [
    "CenterCrop", "Pad", "RandomCrop", "RandomHorizontalFlip", "RandomIoUCrop", "RandomResize",
    "RandomResizedCrop", "RandomRotation", "RandomShortestSize", "RandomVerticalFlip",
    "RandomZoomOut", "Resize", "ScaleJitter",
]  # fmt: skip


def _frame(size):
    # What v1's draws need of an image: its size.
    return rushlight.empty((1, *size), device="meta")


def _draw(stop):
    return rushlight.randint(0, stop, size=()).item()


class RandomHorizontalFlip(RandomApplyTransform):
    """Left and right exchanged, with probability p."""

    def transform(self, inpt, params):
        """Exchanged."""
        return functional.horizontal_flip(inpt)


class RandomVerticalFlip(RandomApplyTransform):
    """Top and bottom exchanged, with probability p."""

    def transform(self, inpt, params):
        """Exchanged."""
        return functional.vertical_flip(inpt)


class Resize(Transform, _v1.Resize):
    """The image in another size, and what lies in it; the arguments are v1's."""

    def transform(self, inpt, params):
        """Resized."""
        return functional.resize(inpt, self.size, self.interpolation, self.max_size, self.antialias)


class CenterCrop(Transform, _v1.CenterCrop):
    """The rectangle in the middle; the arguments are v1's."""

    def transform(self, inpt, params):
        """Cropped."""
        return functional.center_crop(inpt, self.size)


@takes_fills
class Pad(Transform, _v1.Pad):
    """With a border; the arguments are v1's."""

    def transform(self, inpt, params):
        """Padded."""
        fill = fill_of(inpt, self.fill) if isinstance(self.fill, dict) else self.fill
        return functional.pad(inpt, self.padding, fill, self.padding_mode)


@takes_fills
class RandomCrop(Transform, _v1_random.RandomCrop):
    """A rectangle at a random position; the arguments are v1's."""

    def make_params(self, flat_inputs):
        """The border and the rectangle."""
        height, width = size_of(flat_inputs)
        left, top, right, bottom = (
            functional._boxes._edges(self.padding) if self.padding is not None else (0, 0, 0, 0)
        )
        rows, columns = height + top + bottom, width + left + right
        wanted = self.size
        if self.pad_if_needed:
            missing = max(wanted[0] - rows, 0), max(wanted[1] - columns, 0)
            top, bottom = top + missing[0], bottom + missing[0]
            left, right = left + missing[1], right + missing[1]
            rows, columns = rows + 2 * missing[0], columns + 2 * missing[1]
        if rows < wanted[0] or columns < wanted[1]:
            raise ValueError(
                f"Required crop size {tuple(wanted)} is larger than padded input image size "
                f"{(rows, columns)}."
            )
        y = _draw(rows - wanted[0] + 1) if rows > wanted[0] else 0
        x = _draw(columns - wanted[1] + 1) if columns > wanted[1] else 0
        return {"padding": [left, top, right, bottom], "place": (y, x, *wanted)}

    def transform(self, inpt, params):
        """Padded and cropped."""
        if any(params["padding"]):
            fill = fill_of(inpt, self.fill)
            inpt = functional.pad(inpt, params["padding"], fill, self.padding_mode)
        return functional.crop(inpt, *params["place"])


class RandomResizedCrop(Transform, _v1_random.RandomResizedCrop):
    """A random rectangle, resized; the arguments are v1's."""

    def make_params(self, flat_inputs):
        """The rectangle."""
        return {"place": self.get_params(_frame(size_of(flat_inputs)), self.scale, self.ratio)}

    def transform(self, inpt, params):
        """Cropped and resized."""
        return functional.resized_crop(
            inpt, *params["place"], self.size, self.interpolation, self.antialias
        )


@takes_fills
class RandomRotation(Transform, _v1_random.RandomRotation):
    """Rotated by a random angle; the arguments are v1's."""

    def make_params(self, flat_inputs):
        """The angle."""
        return {"angle": self.get_params(self.degrees)}

    def transform(self, inpt, params):
        """Rotated."""
        fill = fill_of(inpt, self.fill)
        return functional.rotate(
            inpt, params["angle"], self.interpolation, self.expand, self.center, fill
        )


@takes_fills
class RandomZoomOut(RandomApplyTransform):
    """The image at a random place in a larger one, with probability p.

    Args:
        fill: the border's value.
        side_range: how many times larger.
        p: the probability.

    Source: Liu et al., SSD, 2015.
    """

    def __init__(self, fill=0, side_range=(1.0, 4.0), p=0.5):
        super().__init__(p)
        if side_range[0] < 1.0 or side_range[0] > side_range[1]:
            raise ValueError(f"Invalid side range provided {side_range}.")
        self.fill, self.side_range = fill, side_range

    def make_params(self, flat_inputs):
        """The border."""
        height, width = size_of(flat_inputs)
        low, high = self.side_range
        times = low + rushlight.rand(1).item() * (high - low)
        rows, columns = int(height * times), int(width * times)
        x, y = rushlight.rand(2).tolist()
        left, top = int((columns - width) * x), int((rows - height) * y)
        return {"padding": [left, top, columns - left - width, rows - top - height]}

    def transform(self, inpt, params):
        """Padded."""
        fill = fill_of(inpt, self.fill)
        return functional.pad(inpt, params["padding"], fill)


class RandomIoUCrop(Transform):
    """A random rectangle that overlaps some box by at least a drawn share.

    Boxes whose centre is outside become empty; SanitizeBoundingBoxes takes them away.

    Args:
        min_scale: the least side, in those of the image.
        max_scale: the greatest.
        min_aspect_ratio: the least width over height.
        max_aspect_ratio: the greatest.
        sampler_options: the shares that are drawn from; 1 and more leaves the image as it is.
        trials: rectangles that are tried for a share, before another one is drawn.

    Source: Liu et al., SSD, 2015.
    """

    def __init__(
        self, min_scale=0.3, max_scale=1.0, min_aspect_ratio=0.5, max_aspect_ratio=2.0,
        sampler_options=None, trials=40,
    ):  # fmt: skip
        super().__init__()
        self.min_scale, self.max_scale = min_scale, max_scale
        self.min_aspect_ratio, self.max_aspect_ratio = min_aspect_ratio, max_aspect_ratio
        self.options = sampler_options or [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
        self.trials = trials

    def check_inputs(self, flat_inputs):
        """An image and boxes are needed."""
        boxes_of(flat_inputs)

    def _rectangle(self, rows, columns):
        # (left, top, width, height) of a drawn rectangle, or None.
        shares = (self.min_scale + (self.max_scale - self.min_scale) * rushlight.rand(2)).tolist()
        width, height = int(columns * shares[0]), int(rows * shares[1])
        if not height or not self.min_aspect_ratio <= width / height <= self.max_aspect_ratio:
            return None
        x, y = rushlight.rand(2).tolist()
        return int((columns - width) * x), int((rows - height) * y), width, height

    def make_params(self, flat_inputs):
        """The rectangle, and which boxes have their centre in it; {} leaves the sample as it is."""
        rows, columns = size_of(flat_inputs)
        boxes = boxes_of(flat_inputs)
        corners = converted(plain(boxes), boxes.format, tv_tensors.BoundingBoxFormat.XYXY)
        x, y = 0.5 * (corners[:, 0] + corners[:, 2]), 0.5 * (corners[:, 1] + corners[:, 3])
        for _ in range(1000):  # boxes that no rectangle overlaps so far must not hang the call
            least = self.options[rushlight.randint(0, len(self.options), (1,)).item()]
            if least >= 1.0:
                return {}
            for _ in range(self.trials):
                found = self._rectangle(rows, columns)
                if found is None or not found[2] or not found[3]:
                    continue
                left, top, width, height = found
                right, bottom = left + width, top + height
                inside = (left < x) & (x < right) & (top < y) & (y < bottom)
                if not inside.any():
                    continue
                whole = corners.new_tensor([[left, top, right, bottom]])
                if box_iou(corners[inside], whole).max() < least:
                    continue
                return {"place": (top, left, height, width), "inside": inside}
        return {}

    def transform(self, inpt, params):
        """Cropped."""
        if not params:
            return inpt
        found = functional.crop(inpt, *params["place"])
        if isinstance(found, tv_tensors.BoundingBoxes):
            values = plain(found).masked_fill(~params["inside"][:, None], 0)
            return tv_tensors.wrap(values, like=found)
        return found


class ScaleJitter(Transform):
    """Resized to a random share of a target's size, sides in proportion.

    Args:
        target_size: (height, width).
        scale_range: limits of the share.
        interpolation: an InterpolationMode.
        antialias: whether shrinking averages over what falls together.

    Source: Ghiasi et al., Simple Copy-Paste, 2020.
    """

    def __init__(
        self, target_size, scale_range=(0.1, 2.0),
        interpolation=functional.InterpolationMode.BILINEAR, antialias=True,
    ):  # fmt: skip
        super().__init__()
        self.target_size, self.scale_range = target_size, scale_range
        self.interpolation, self.antialias = interpolation, antialias

    def make_params(self, flat_inputs):
        """The size."""
        rows, columns = size_of(flat_inputs)
        low, high = self.scale_range
        scale = low + rushlight.rand(1).item() * (high - low)
        times = min(self.target_size[1] / rows, self.target_size[0] / columns) * scale
        return {"size": (int(rows * times), int(columns * times))}

    def transform(self, inpt, params):
        """Resized."""
        return functional.resize(inpt, params["size"], self.interpolation, antialias=self.antialias)


class RandomShortestSize(ScaleJitter):
    """Resized so that the shorter side has a length drawn from a list.

    Args:
        min_size: the lengths, or one.
        max_size: limit of the longer side.
        interpolation: an InterpolationMode.
        antialias: whether shrinking averages over what falls together.
    """

    def __init__(
        self, min_size, max_size=None, interpolation=functional.InterpolationMode.BILINEAR,
        antialias=True,
    ):  # fmt: skip
        Transform.__init__(self)
        self.min_size = [min_size] if isinstance(min_size, int) else list(min_size)
        self.max_size, self.interpolation, self.antialias = max_size, interpolation, antialias

    def make_params(self, flat_inputs):
        """The size."""
        rows, columns = size_of(flat_inputs)
        times = self.min_size[_draw(len(self.min_size))] / min(rows, columns)
        if self.max_size is not None:
            times = min(times, self.max_size / max(rows, columns))
        return {"size": (int(rows * times), int(columns * times))}


class RandomResize(Transform):
    """Resized so that the shorter side has a random length.

    Args:
        min_size: the least length.
        max_size: a length that is more than the greatest.
        interpolation: an InterpolationMode.
        antialias: whether shrinking averages over what falls together.
    """

    def __init__(
        self, min_size, max_size, interpolation=functional.InterpolationMode.BILINEAR,
        antialias=True,
    ):  # fmt: skip
        super().__init__()
        self.min_size, self.max_size = min_size, max_size
        self.interpolation, self.antialias = interpolation, antialias

    def make_params(self, flat_inputs):
        """The length."""
        return {"size": rushlight.randint(self.min_size, self.max_size, ()).item()}

    def transform(self, inpt, params):
        """Resized."""
        return functional.resize(inpt, params["size"], self.interpolation, antialias=self.antialias)
