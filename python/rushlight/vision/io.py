"""read_image and write_png/write_jpeg, over Pillow."""

from enum import Enum

import rushlight

from ._pillow import pillow


class ImageReadMode(Enum):
    """Which channels `read_image` gives; UNCHANGED keeps the file's own."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


_pil_modes = {"GRAY": "L", "GRAY_ALPHA": "LA", "RGB": "RGB", "RGB_ALPHA": "RGBA"}


def read_image(path, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """Read an image file as a uint8 tensor.

    Args:
        path: the file.
        mode: an ImageReadMode or its name.
        apply_exif_orientation: rotate the image as its EXIF data says.

    Shape:
        (channels, height, width)

    Raises:
        RuntimeError: the file is no image that Pillow reads.
    """
    from .transforms.functional import pil_to_tensor

    if isinstance(mode, str):
        mode = ImageReadMode[mode.upper()]
    image_module, operations = pillow("Image", "ImageOps")
    try:
        with image_module.open(path) as image:
            image.load()
    except FileNotFoundError:
        raise
    except (OSError, ValueError, SyntaxError) as error:
        raise RuntimeError(f"cannot read {path} as an image: {error}") from error
    if apply_exif_orientation:
        image = operations.exif_transpose(image)
    if mode is not ImageReadMode.UNCHANGED:
        image = image.convert(_pil_modes[mode.name])
    elif image.mode not in ("L", "LA", "RGB", "RGBA"):
        image = image.convert("RGB")
    return pil_to_tensor(image).contiguous()


def _write(image, path, kind, **options):
    from .transforms.functional import to_pil_image

    if image.dtype != rushlight.uint8:
        raise RuntimeError(f"Input tensor dtype should be uint8, not {image.dtype}")
    to_pil_image(image).save(path, format=kind, **options)


def write_png(input, filename, compression_level=6):
    """Write a uint8 tensor (channels, height, width) as a PNG file."""
    _write(input, filename, "PNG", compress_level=compression_level)


def write_jpeg(input, filename, quality=75):
    """Write a uint8 tensor (channels, height, width) as a JPEG file."""
    _write(input, filename, "JPEG", quality=quality)
