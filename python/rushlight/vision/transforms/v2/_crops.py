"""FiveCrop and TenCrop: each image of a sample becomes a tuple of images."""

from ... import tv_tensors
from ..transforms import CenterCrop as _CenterCrop
from . import functional
from ._transform import Transform


class FiveCrop(Transform):
    """The four corners and the middle, as a tuple in the place of the image.

    Args:
        size: of each, (height, width) or one int.
    """

    _transformed_types = (tv_tensors.Image, tv_tensors.Video)

    def __init__(self, size):
        super().__init__()
        self.size = _CenterCrop(size).size

    def check_inputs(self, flat_inputs):
        """Raises for boxes and masks."""
        if any(isinstance(p, tv_tensors.BoundingBoxes | tv_tensors.Mask) for p in flat_inputs):
            raise TypeError(
                f"BoundingBoxes'es and Mask's are not supported by {type(self).__name__}()"
            )

    def transform(self, inpt, params):
        """The crops."""
        return functional.five_crop(inpt, self.size)


class TenCrop(FiveCrop):
    """The four corners and the middle, and the same of the flipped image.

    Args:
        size: of each, (height, width) or one int.
        vertical_flip: whether top and bottom are exchanged, instead of left and right.
    """

    def __init__(self, size, vertical_flip=False):
        super().__init__(size)
        self.vertical_flip = vertical_flip

    def transform(self, inpt, params):
        """The crops."""
        return functional.ten_crop(inpt, self.size, self.vertical_flip)
