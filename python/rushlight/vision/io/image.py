"""Images between files, their bytes and uint8 tensors, over Pillow."""

import io
import os
from enum import Enum

import rushlight

from .._pillow import pillow


class ImageReadMode(Enum):
    """Which channels a decoded image has; UNCHANGED keeps the file's own."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


_pil_modes = {"GRAY": "L", "GRAY_ALPHA": "LA", "RGB": "RGB", "RGB_ALPHA": "RGBA"}
# Formats of pixels alone: Pillow also reads some that it gives to other programs (EPS).
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM")


def _decoded(source, name, mode, apply_exif_orientation, formats=_FORMATS):
    """The image in a file, by its path or an object of io; errors call it `name`."""
    from ..transforms.functional import pil_to_tensor

    if isinstance(mode, str):
        mode = ImageReadMode[mode.upper()]
    image_module, operations = pillow("Image", "ImageOps")
    image_module.init()
    known = [each for each in formats if each in image_module.OPEN]
    try:
        with image_module.open(source, formats=known) as image:
            if image.format == "GIF":
                return _frames(image)
            image.load()
    except FileNotFoundError:
        raise
    except (OSError, ValueError, SyntaxError, image_module.DecompressionBombError) as error:
        raise RuntimeError(f"cannot read {name} as an image: {error}") from error
    if apply_exif_orientation:
        image = operations.exif_transpose(image)
    if mode is not ImageReadMode.UNCHANGED:
        image = image.convert(_pil_modes[mode.name])
    elif image.mode not in ("L", "LA", "RGB", "RGBA"):
        image = image.convert("RGB")
    return pil_to_tensor(image).contiguous()


def _frames(image):
    from ..transforms.functional import pil_to_tensor

    frames, count = [], getattr(image, "n_frames", 1)
    most = pillow().MAX_IMAGE_PIXELS  # of Pillow, for one picture; 25 bytes make a frame
    if most is not None and count * image.width * image.height > 8 * most:
        raise ValueError(
            f"{count} frames of {image.width} x {image.height} pixels are more than {8 * most} "
            "pixels\nif you trust the file, set PIL.Image.MAX_IMAGE_PIXELS to a larger number"
        )
    for number in range(count):
        image.seek(number)
        frames.append(pil_to_tensor(image.convert("RGB")))
    return rushlight.stack(frames) if len(frames) > 1 else frames[0].contiguous()


def _bytes_of(input):
    if not isinstance(input, rushlight.Tensor) or input.dtype != rushlight.uint8:
        raise RuntimeError(
            f"Expected a torch.uint8 tensor, got {getattr(input, 'dtype', type(input).__name__)}"
        )
    if input.dim() != 1 or not input.numel():
        raise RuntimeError(
            f"Expected a non empty 1-dimensional tensor, got shape {list(input.shape)}"
        )
    return io.BytesIO(input.cpu().numpy().tobytes())


def read_image(path, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """Read an image file as a uint8 tensor.

    Args:
        path: the file: PNG, JPEG, GIF, WebP, BMP, TIFF or PPM.
        mode: an ImageReadMode or its name.
        apply_exif_orientation: rotate the image as its EXIF data says.

    Shape:
        (channels, height, width); (frames, 3, height, width) for a GIF of several.

    Raises:
        RuntimeError: the file is no such image.
    """
    return _decoded(path, path, mode, apply_exif_orientation)


def decode_image(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """Decode an image from a file's bytes, a uint8 tensor of one dimension, or from its path.

    Args and Shape: as of read_image.

    >>> from rushlight.vision import io
    >>> image = torch.arange(12, dtype=torch.uint8).reshape(3, 2, 2)
    >>> torch.equal(io.decode_image(io.encode_png(image)), image)
    True
    """
    if isinstance(input, str):
        return _decoded(input, input, mode, apply_exif_orientation)
    return _decoded(_bytes_of(input), "the bytes", mode, apply_exif_orientation)


def decode_png(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """Decode a PNG file's bytes, as decode_image."""
    return _decoded(_bytes_of(input), "the bytes", mode, apply_exif_orientation, ("PNG",))


def decode_jpeg(input, mode=ImageReadMode.UNCHANGED, device="cpu", apply_exif_orientation=False):
    """Decode a JPEG file's bytes, or those of each in a list, as decode_image."""
    if isinstance(input, (list, tuple)):
        return [decode_jpeg(each, mode, device, apply_exif_orientation) for each in input]
    image = _decoded(_bytes_of(input), "the bytes", mode, apply_exif_orientation, ("JPEG",))
    return image.to(device)


def decode_gif(input):
    """Decode a GIF file's bytes to RGB: (3, height, width), or (frames, 3, height, width)."""
    return _decoded(_bytes_of(input), "the bytes", ImageReadMode.RGB, False, ("GIF",))


def decode_webp(input, mode=ImageReadMode.UNCHANGED):
    """Decode a WebP file's bytes, as decode_image."""
    return _decoded(_bytes_of(input), "the bytes", mode, False, ("WEBP",))


def _write(image, path, kind, **options):
    from ..transforms.functional import to_pil_image

    if image.dtype != rushlight.uint8:
        raise RuntimeError(f"Input tensor dtype should be uint8, not {image.dtype}")
    to_pil_image(image).save(path, format=kind, **options)


def _encoded(image, kind, **options):
    file = io.BytesIO()
    _write(image, file, kind, **options)
    return rushlight.frombuffer(bytearray(file.getvalue()), dtype=rushlight.uint8)


def write_png(input, filename, compression_level=6):
    """Write a uint8 tensor (channels, height, width) as a PNG file."""
    _write(input, filename, "PNG", compress_level=compression_level)


def write_jpeg(input, filename, quality=75):
    """Write a uint8 tensor (channels, height, width) as a JPEG file."""
    _write(input, filename, "JPEG", quality=quality)


def encode_png(input, compression_level=6):
    """The bytes of a PNG file of a uint8 tensor (channels, height, width), a uint8 tensor."""
    return _encoded(input, "PNG", compress_level=compression_level)


def encode_jpeg(input, quality=75):
    """A JPEG file's bytes of a uint8 tensor (channels, height, width), or of each of a list."""
    if isinstance(input, (list, tuple)):
        return [encode_jpeg(each, quality) for each in input]
    return _encoded(input, "JPEG", quality=quality)


def read_file(path):
    """The bytes of a file, a uint8 tensor of one dimension."""
    with open(path, "rb") as file:
        data = bytearray(file.read(os.fstat(file.fileno()).st_size))  # devices never end
    return (
        rushlight.frombuffer(data, dtype=rushlight.uint8)
        if data
        else rushlight.empty(0, dtype=rushlight.uint8)
    )


def write_file(filename, data):
    """Write a uint8 tensor of one dimension to a file, byte for byte."""
    with open(filename, "wb") as file:
        file.write(_bytes_of(data).getvalue())
