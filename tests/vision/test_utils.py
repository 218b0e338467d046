"""make_grid, save_image, io, and what happens without Pillow."""

import io
import os
import pathlib
import struct
import subprocess
import sys

import numpy
import pytest

import rushlight
from rushlight import vision
from rushlight.vision.io import (
    ImageReadMode,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    read_file,
    read_image,
    write_file,
    write_jpeg,
    write_png,
)
from rushlight.vision.utils import make_grid, save_image


def test_make_grid():
    images = rushlight.rand(5, 3, 4, 6)
    grid = make_grid(images, nrow=2, padding=1, pad_value=0.5)
    assert grid.shape == (3, 16, 15)
    assert (grid[:, 1:5, 1:7] == images[0]).all()
    assert (grid[:, 6:10, 8:14] == images[3]).all()
    assert (grid[:, 11:, 8:] == 0.5).all()
    assert make_grid(rushlight.rand(5, 1, 4, 6)).shape == (3, 8, 42)
    assert make_grid(rushlight.rand(4, 6)).shape == (3, 4, 6)
    assert make_grid(rushlight.rand(3, 4, 6)).shape == (3, 4, 6)
    assert make_grid([rushlight.rand(3, 4, 6)] * 2).shape == (3, 8, 18)
    stretched = make_grid(images * 4 - 2, normalize=True, padding=0)
    assert stretched.min().item() == 0
    assert stretched.max().item() == 1
    each = make_grid(images, normalize=True, scale_each=True, value_range=(0.2, 0.8))
    assert each.max().item() == 1
    for wrong in (3, [1, 2]):
        with pytest.raises(TypeError, match="tensor or list of tensors expected"):
            make_grid(wrong)


def test_save_image_replaces_only_when_complete(tmp_path):
    path = tmp_path / "grid.png"
    images = rushlight.rand(2, 3, 4, 4)
    save_image(images, path)
    expected = (make_grid(images) * 255 + 0.5).clamp(0, 255).to(rushlight.uint8)
    assert (read_image(path) == expected).all()
    before = path.read_bytes()
    with pytest.raises((TypeError, OSError, ValueError, SystemError)):
        save_image(rushlight.rand(2, 5, 4, 4), path)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="unknown file extension"):
        save_image(images, tmp_path / "grid.unknown")
    assert os.listdir(tmp_path) == ["grid.png"]
    with open(tmp_path / "stream", "wb") as file:
        save_image(images, file, format="PNG")
    assert (tmp_path / "stream").read_bytes() == before


def test_io(tmp_path):
    pixels = rushlight.from_numpy(
        numpy.random.default_rng(0).integers(0, 256, (3, 5, 6), dtype=numpy.uint8)
    )
    write_png(pixels, tmp_path / "a.png")
    assert (read_image(tmp_path / "a.png") == pixels).all()
    assert read_image(str(tmp_path / "a.png"), ImageReadMode.GRAY).shape == (1, 5, 6)
    assert read_image(str(tmp_path / "a.png"), "rgb_alpha").shape == (4, 5, 6)
    write_jpeg(pixels, tmp_path / "a.jpg")
    assert read_image(tmp_path / "a.jpg").shape == (3, 5, 6)
    (tmp_path / "b.png").write_bytes(b"junk")
    with pytest.raises(RuntimeError, match=r"cannot read .*b\.png as an image"):
        read_image(tmp_path / "b.png")
    with pytest.raises(FileNotFoundError):
        read_image(tmp_path / "c.png")


def test_bytes_of_images(tmp_path):
    pixels = rushlight.arange(90, dtype=rushlight.uint8).reshape(3, 5, 6)
    data = encode_png(pixels)
    assert data.dtype == rushlight.uint8 and data.dim() == 1
    assert (decode_png(data) == pixels).all() and (decode_image(data) == pixels).all()
    assert decode_image(data, ImageReadMode.GRAY).shape == (1, 5, 6)
    write_file(str(tmp_path / "a"), data)
    assert read_file(str(tmp_path / "a")).tolist() == data.tolist()
    assert read_file("/dev/zero").numel() == 0  # its size, as torchvision takes it; it has no end
    assert (decode_image(str(tmp_path / "a")) == pixels).all()
    both = decode_jpeg(encode_jpeg([pixels, pixels[:, :4]]))
    assert [tuple(each.shape) for each in both] == [(3, 5, 6), (3, 4, 6)]
    frames = [vision.transforms.functional.to_pil_image(pixels // n) for n in (1, 2)]
    stream = io.BytesIO()
    frames[0].save(stream, format="GIF", save_all=True, append_images=frames[1:])
    gif = rushlight.tensor(list(stream.getvalue()), dtype=rushlight.uint8)
    assert decode_gif(gif).shape == decode_image(gif).shape == (2, 3, 5, 6)


@pytest.mark.parametrize("wrong", [[1], [[1, 2]], [], [1.5]])
def test_what_is_no_image(wrong):
    with pytest.raises(RuntimeError):
        decode_image(rushlight.tensor(wrong))
    with pytest.raises(RuntimeError, match="cannot read the bytes as an image"):
        decode_jpeg(encode_png(rushlight.zeros(3, 2, 2, dtype=rushlight.uint8)))


def test_few_bytes_that_are_many_pixels():
    """Frames of one pixel on a large canvas take 25 bytes each."""
    image = pytest.importorskip("PIL.Image")
    canvas = b"GIF89a" + struct.pack("<HHBBB", 9000, 9000, 0x80, 0, 0) + bytes(3) + b"\xff" * 3
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\2\2\x44\1\0"
    gif = rushlight.tensor(list(canvas + frame * 20 + b"\x3b"), dtype=rushlight.uint8)
    with pytest.raises(RuntimeError, match=r"20 frames of 9000 x 9000 .*\n.*MAX_IMAGE_PIXELS"):
        decode_gif(gif)
    assert 8 * image.MAX_IMAGE_PIXELS < 20 * 9000**2


def test_formats_for_other_programs_are_not_read(tmp_path):
    text = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 2 2\n%%EndComments\nshowpage\n%%EOF\n"
    (tmp_path / "a.png").write_bytes(text)
    with pytest.raises(RuntimeError, match="cannot identify image"):
        read_image(tmp_path / "a.png")


def test_absent_parts_say_so():
    with pytest.raises(AttributeError, match=r"torchvision\.prototype is not in rushlight"):
        _ = vision.prototype
    assert vision.__version__.startswith("0.28.0")
    assert vision.get_image_backend() == "PIL"


def test_without_pillow(tmp_path):
    program = """
import sys
sys.modules["PIL"] = None
import numpy, rushlight
from rushlight.vision import transforms, utils, datasets
assert transforms.ToTensor()(numpy.zeros((2, 2, 3), "u1")).shape == (3, 2, 2)
try:
    transforms.ToPILImage()(rushlight.zeros(3, 2, 2))
except ModuleNotFoundError as error:
    print(error)
"""
    where = str(pathlib.Path(rushlight.__file__).parent.parent)
    paths = [where, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        timeout=60,
    )
    assert "pip install 'rushlight[vision]'" in result.stdout, result.stderr


def test_names_where_programs_look_for_them():
    from rushlight.vision.io import image
    from rushlight.vision.ops import misc

    assert image.decode_image is decode_image and image.ImageReadMode is ImageReadMode
    assert misc.interpolate is rushlight.nn.functional.interpolate
    assert vision._is_tracing() is False
