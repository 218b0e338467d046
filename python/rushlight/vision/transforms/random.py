"""Random transforms of images. Draws come from the default generator, in torchvision's order."""

import math
import warnings
from collections.abc import Sequence
from numbers import Number

import rushlight
from rushlight import nn

from . import functional
from ._image import InterpolationMode, get_dimensions, interpolation_mode


def _happens(p):
    return rushlight.rand(1).item() < p


def _between(low, high):
    return rushlight.empty(1).uniform_(float(low), float(high)).item()


def _below(stop):
    return rushlight.randint(0, stop, size=(1,)).item()


def _two(size):
    if isinstance(size, Number):
        return int(size), int(size)
    if isinstance(size, Sequence) and len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    return size


def _check_ranges(scale, ratio):
    if not isinstance(scale, Sequence):
        raise TypeError("Scale should be a sequence")
    if not isinstance(ratio, Sequence):
        raise TypeError("Ratio should be a sequence")
    if scale[0] > scale[1] or ratio[0] > ratio[1]:
        warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=3)


class RandomCrop(nn.Module):
    """A rectangle at a random position.

    Args:
        size: (height, width) or one int.
        padding: border that is added first; see `functional.pad`.
        pad_if_needed: pad an image that is smaller than `size`.
        fill: the border's value.
        padding_mode: how the border is filled, see `functional.pad`.

    Shape: (*, c, h, w) gives (*, c, *size).

    Raises:
        ValueError: `size` is larger than the image.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomCrop(4, padding=1)(torch.ones(3, 8, 16)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = tuple(_two(size))
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img, output_size):
        """(top, left, height, width) of a random rectangle of `output_size` in `img`."""
        _, rows, columns = get_dimensions(img)
        height, width = output_size
        if rows < height or columns < width:
            raise ValueError(
                f"Required crop size {(height, width)} is larger than input image size "
                f"{(rows, columns)}\nGive RandomCrop padding= or pad_if_needed=True, or resize."
            )
        if (rows, columns) == (height, width):
            return 0, 0, rows, columns
        top = _below(rows - height + 1)
        return top, _below(columns - width + 1), height, width

    def forward(self, img):
        if self.padding is not None:
            img = functional.pad(img, self.padding, self.fill, self.padding_mode)
        _, rows, columns = get_dimensions(img)
        if self.pad_if_needed and columns < self.size[1]:
            border = [self.size[1] - columns, 0]
            img = functional.pad(img, border, self.fill, self.padding_mode)
        if self.pad_if_needed and rows < self.size[0]:
            border = [0, self.size[0] - rows]
            img = functional.pad(img, border, self.fill, self.padding_mode)
        return functional.crop(img, *self.get_params(img, self.size))

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class RandomHorizontalFlip(nn.Module):
    """Left and right exchanged, with some probability.

    Args:
        p: the probability.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomHorizontalFlip(p=1.0)(torch.tensor([[[1.0, 2.0]]]))
    tensor([[[2., 1.]]])
    """

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return functional.hflip(img) if _happens(self.p) else img

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p})"


class RandomVerticalFlip(nn.Module):
    """Top and bottom exchanged, with some probability.

    Args:
        p: the probability.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomVerticalFlip(p=1.0)(torch.tensor([[[1.0], [2.0]]])).flatten()
    tensor([2., 1.])
    """

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return functional.vflip(img) if _happens(self.p) else img

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p})"


def _random_sides(area, scale, ratio):
    """Two sides of a random rectangle: the area's share from `scale`, the quotient from `ratio`."""
    low, high = rushlight.log(rushlight.tensor(ratio)).tolist()
    wanted = area * _between(*scale)
    quotient = rushlight.exp(rushlight.empty(1).uniform_(low, high)).item()
    return round(math.sqrt(wanted * quotient)), round(math.sqrt(wanted / quotient))


class RandomResizedCrop(nn.Module):
    """A random rectangle of the image, resized (Szegedy et al., 2015).

    Args:
        size: of the result, (height, width) or one int.
        scale: limits of the rectangle's area, as a fraction of the image's.
        ratio: limits of width / height.
        interpolation: an InterpolationMode.
        antialias: see `Resize`.

    Shape: (*, c, h, w) gives (*, c, *size).

    >>> from rushlight.vision import transforms
    >>> transforms.RandomResizedCrop(4)(torch.ones(3, 8, 16)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(
        self,
        size,
        scale=(0.08, 1.0),
        ratio=(3.0 / 4.0, 4.0 / 3.0),
        interpolation=InterpolationMode.BILINEAR,
        antialias=True,
    ):
        super().__init__()
        self.size = _two(size)
        _check_ranges(scale, ratio)
        self.interpolation = interpolation_mode(interpolation)
        self.antialias = antialias
        self.scale = scale
        self.ratio = ratio

    @staticmethod
    def get_params(img, scale, ratio):
        """(top, left, height, width) of a random rectangle in `img`, within the limits `scale` and
        `ratio`; a central one after ten misses.
        """
        _, rows, columns = get_dimensions(img)
        for _ in range(10):
            width, height = _random_sides(rows * columns, scale, ratio)
            if 0 < width <= columns and 0 < height <= rows:
                top = _below(rows - height + 1)
                return top, _below(columns - width + 1), height, width
        quotient = columns / rows
        width, height = columns, rows
        if quotient < min(ratio):
            height = round(width / min(ratio))
        elif quotient > max(ratio):
            width = round(height * max(ratio))
        return (rows - height) // 2, (columns - width) // 2, height, width

    def forward(self, img):
        place = self.get_params(img, self.scale, self.ratio)
        return functional.resized_crop(
            img, *place, self.size, self.interpolation, antialias=self.antialias
        )

    def __repr__(self):
        return (
            f"{type(self).__name__}(size={self.size}"
            f", scale={tuple(round(s, 4) for s in self.scale)}"
            f", ratio={tuple(round(r, 4) for r in self.ratio)}"
            f", interpolation={self.interpolation.value}, antialias={self.antialias})"
        )


class RandomRotation(nn.Module):
    """The image rotated by a random angle.

    Args:
        degrees: (lowest, highest), or d for (-d, d).
        interpolation: an InterpolationMode.
        expand: make the result large enough for the whole image.
        center: (x, y) of the fixed point; the middle if None.
        fill: value of the corners.

    Shape: (*, c, h, w) keeps its shape unless `expand`.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomRotation((90, 90))(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[2., 4.],
             [1., 3.]]])
    """

    def __init__(
        self, degrees, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=0
    ):
        super().__init__()
        self.interpolation = interpolation_mode(interpolation)
        if isinstance(degrees, Number):
            if degrees < 0:
                raise ValueError("If degrees is a single number, it must be positive.")
            degrees = [-degrees, degrees]
        _check_pair(degrees, "degrees")
        if center is not None:
            _check_pair(center, "center")
        if fill is not None and not isinstance(fill, Sequence | Number):
            raise TypeError("Fill should be either a sequence or a number.")
        self.degrees = [float(d) for d in degrees]
        self.center = center
        self.expand = expand
        self.fill = 0 if fill is None else fill

    @staticmethod
    def get_params(degrees):
        """A random angle within the limits `degrees`."""
        return _between(*degrees)

    def forward(self, img):
        angle = self.get_params(self.degrees)
        return functional.rotate(
            img, angle, self.interpolation, self.expand, self.center, self.fill
        )

    def __repr__(self):
        center = "" if self.center is None else f", center={self.center}"
        return (
            f"{type(self).__name__}(degrees={self.degrees}, "
            f"interpolation={self.interpolation.value}, expand={self.expand}{center}, "
            f"fill={self.fill})"
        )


def _check_pair(value, name):
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be a sequence of length 2.")
    if len(value) != 2:
        raise ValueError(f"{name} should be a sequence of length 2.")


class ColorJitter(nn.Module):
    """Brightness, contrast, saturation and hue changed at random, in random order.

    Args:
        brightness: (lowest, highest) factor, or b for (max(0, 1 - b), 1 + b).
        contrast, saturation: the same.
        hue: (lowest, highest) within [-0.5, 0.5], or h for (-h, h).

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.ColorJitter(brightness=(0.5, 0.5))(torch.ones(3, 1, 1)).flatten()
    tensor([0.5000, 0.5000, 0.5000])
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self.brightness = self._limits(brightness, "brightness")
        self.contrast = self._limits(contrast, "contrast")
        self.saturation = self._limits(saturation, "saturation")
        self.hue = self._limits(hue, "hue", center=0, bound=(-0.5, 0.5))

    @staticmethod
    def _limits(value, name, center=1, bound=(0, math.inf)):
        if isinstance(value, Number):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative.")
            low = center - float(value)
            value = [max(low, 0.0) if center else low, center + float(value)]
        elif isinstance(value, tuple | list) and len(value) == 2:
            value = [float(value[0]), float(value[1])]
        else:
            raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
        if not bound[0] <= value[0] <= value[1] <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {value}.")
        return None if value[0] == value[1] == center else tuple(value)

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        """The order of the four changes, and a factor of each within its limits: `brightness`,
        `contrast`, `saturation` and `hue`, or None.
        """
        order = rushlight.randperm(4)
        limits = (brightness, contrast, saturation, hue)
        return (order, *(None if pair is None else _between(*pair) for pair in limits))

    def forward(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        adjust = (
            functional.adjust_brightness,
            functional.adjust_contrast,
            functional.adjust_saturation,
            functional.adjust_hue,
        )
        for i in order.tolist():
            if factors[i] is not None:
                img = adjust[i](img, factors[i])
        return img

    def __repr__(self):
        return (
            f"{type(self).__name__}(brightness={self.brightness}, contrast={self.contrast}, "
            f"saturation={self.saturation}, hue={self.hue})"
        )


class RandomGrayscale(nn.Module):
    """The image in grey, with as many channels as before, with some probability.

    Args:
        p: the probability.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomGrayscale(p=1.0)(torch.ones(3, 8, 16)).shape
    torch.Size([3, 8, 16])
    """

    def __init__(self, p=0.1):
        super().__init__()
        self.p = p

    def forward(self, img):
        channels = get_dimensions(img)[0]
        return functional.rgb_to_grayscale(img, channels) if _happens(self.p) else img

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p})"


class RandomErasing(nn.Module):
    """A random rectangle of a tensor image overwritten, with some probability (Zhong et al., 2017).

    Args:
        p: the probability.
        scale: limits of the rectangle's area, as a fraction of the image's.
        ratio: limits of height / width.
        value: a float, one for each channel, or "random" for normal noise.
        inplace: write into the tensor.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> bool((transforms.RandomErasing(p=1.0)(torch.ones(3, 32, 32)) == 0).any())
    True
    """

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        super().__init__()
        if not isinstance(value, Number | str | tuple | list):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        _check_ranges(scale, ratio)
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError("Scale should be between 0 and 1")
        if p < 0 or p > 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.p = p
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(img, scale, ratio, value=None):
        """(top, left, height, width, value) of a random rectangle in `img`, within the limits
        `scale` and `ratio`, filled with `value` or, if None, noise; the image after ten misses.
        """
        channels, rows, columns = img.shape[-3:]
        for _ in range(10):
            height, width = _random_sides(rows * columns, scale, ratio)
            if not (height < rows and width < columns):
                continue
            if value is None:
                drawn = rushlight.empty([channels, height, width]).normal_()
            else:
                drawn = rushlight.tensor(value)[:, None, None]
            top = _below(rows - height + 1)
            return top, _below(columns - width + 1), height, width, drawn
        return 0, 0, rows, columns, img

    def forward(self, img):
        if not _happens(self.p):
            return img
        value = self.value
        if isinstance(value, str):
            value = None
        elif isinstance(value, Number):
            value = [float(value)]
        else:
            value = [float(v) for v in value]
        if value is not None and len(value) not in (1, img.shape[-3]):
            raise ValueError(
                "If value is a sequence, it should have either a single value or "
                f"{img.shape[-3]} (number of input channels)"
            )
        place = self.get_params(img, self.scale, self.ratio, value)
        return functional.erase(img, *place, self.inplace)

    def __repr__(self):
        return (
            f"{type(self).__name__}(p={self.p}, scale={self.scale}, ratio={self.ratio}, "
            f"value={self.value}, inplace={self.inplace})"
        )
