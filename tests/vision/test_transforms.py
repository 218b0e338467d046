"""Transforms: values, draws, printed forms and errors; resizing and draws against torch."""

import random

import numpy
import pytest

import rushlight
from rushlight.vision import transforms
from rushlight.vision.transforms import functional
from rushlight.vision.transforms.transforms import InterpolationMode

PIXELS = numpy.random.default_rng(0).integers(0, 256, (17, 23, 3), dtype=numpy.uint8)


@pytest.fixture
def image():
    from PIL import Image

    return Image.fromarray(PIXELS)


def pixels_of(image):
    return numpy.asarray(image)


def test_to_tensor(image):
    expected = PIXELS.transpose(2, 0, 1).astype(numpy.float32) / numpy.float32(255)
    for source in (image, PIXELS, PIXELS[:, ::-1][:, ::-1]):
        result = transforms.ToTensor()(source)
        assert result.dtype == rushlight.float32
        assert result.is_contiguous()
        assert (result.numpy() == expected).all()
    assert transforms.ToTensor()(image.convert("L")).shape == (1, 17, 23)
    assert transforms.ToTensor()(image.convert("RGBA")).shape == (4, 17, 23)
    assert set(transforms.ToTensor()(image.convert("1")).unique().tolist()) <= {0.0, 1.0}
    floats = transforms.ToTensor()(numpy.ones((2, 3)))
    assert floats.dtype == rushlight.float64
    assert floats.shape == (1, 2, 3)
    assert transforms.ToTensor()(image.convert("I")).dtype == rushlight.int32
    assert transforms.ToTensor()(image.convert("F")).dtype == rushlight.float32
    assert (transforms.PILToTensor()(image).numpy() == PIXELS.transpose(2, 0, 1)).all()


@pytest.mark.parametrize("mode", ["L", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "LA"])
@pytest.mark.parametrize("size", [(1, 1), (5, 3), (64, 70), (2300, 2001)])
def test_to_tensor_of_every_way_to_keep_pixels(mode, size):
    from PIL import Image

    pixels = numpy.random.default_rng(1).integers(0, 256, (*size[::-1], 3), dtype=numpy.uint8)
    image = Image.fromarray(pixels).convert(mode)
    upside_down = Image.frombuffer(mode, size, image.tobytes(), "raw", mode, 0, -1)
    views = [image, image.crop((0, 0, *size)), image.copy(), upside_down]
    views.append(Image.frombuffer(mode, size, image.tobytes(), "raw", mode, 0, 1))
    for view in views:
        expected = numpy.asarray(view).reshape(size[1], size[0], -1).transpose(2, 0, 1)
        expected = expected.astype(numpy.float32) / numpy.float32(255)
        result = transforms.ToTensor()(view)
        assert result.is_contiguous()
        assert (result.numpy() == expected).all()


def test_lent_pixels_hold_the_image():
    from PIL import Image

    image = Image.new("RGB", (4, 3), (7, 8, 9))
    schema, array = image.__arrow_c_array__()
    pixels = rushlight._C._lent_pixels(schema, array, 3, 4)
    assert rushlight._C._lent_pixels(schema, array, 4, 4) is None
    assert rushlight._C._lent_pixels(schema, array, -3, -4) is None
    del image, schema, array
    assert pixels[2, 3, :3].tolist() == [7, 8, 9]
    with pytest.raises(ValueError, match="PyCapsule"):
        rushlight._C._lent_pixels(1, 2, 3, 4)
    with pytest.raises(ValueError, match="pixels are bytes"):
        rushlight._C._scaled_pixels(pixels, 5)


def test_normalize_is_the_steps_one_by_one():
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    shift, scale = (rushlight.tensor(values).view(-1, 1, 1) for values in (mean, std))
    for shape in [(3, 1, 1), (3, 5, 7), (2, 3, 9, 11), (2, 2, 3, 4, 4)]:
        x = rushlight.rand(shape)
        expected = (x - shift) / scale
        assert (functional.normalize(x, mean, std) == expected).all()
        strided = x.transpose(-1, -2)
        assert (functional.normalize(strided, mean, std) == expected.transpose(-1, -2)).all()
    one = functional.normalize(rushlight.ones(3, 2, 2), (0.5,), (0.25,))
    assert (one == 2).all()
    assert functional.normalize(x.double(), mean, std).dtype == rushlight.float64
    x = rushlight.rand(3, 2, 2, requires_grad=True)
    functional.normalize(x, (0.5,) * 3, (0.25,) * 3).sum().backward()
    assert (x.grad == 4).all()


def test_normalize_of_too_few_channels():
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        functional.normalize(rushlight.ones(1, 28, 28), (0.5,) * 3, (0.5,) * 3)


def test_to_tensor_makes_its_own_memory(image):
    array = PIXELS.copy()
    result = transforms.ToTensor()(array)
    before = result.sum().item()
    array[:] = 0
    assert result.sum().item() == before


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "I", "F"])
def test_to_pil_image_and_back(image, mode):
    source = image.convert(mode)
    back = transforms.ToPILImage()(transforms.PILToTensor()(source))
    if mode == "F":
        back = transforms.ToPILImage("F")(transforms.PILToTensor()(source))
    assert back.mode == mode
    assert back.tobytes() == source.tobytes()


def test_to_pil_image_scales_floats():
    image = transforms.ToPILImage()(rushlight.tensor([[[0.0, 0.5, 1.0]]]))
    assert pixels_of(image).tolist() == [[0, 127, 255]]


def test_normalize():
    values = rushlight.rand(2, 3, 4, 5)
    mean, std = numpy.float32([0.1, 0.2, 0.3]), numpy.float32([0.4, 0.5, 0.6])
    expected = (values.numpy() - mean[:, None, None]) / std[:, None, None]
    result = transforms.Normalize(mean.tolist(), std.tolist())(values)
    assert (result.numpy() == expected).all()
    assert functional.normalize(values, mean.tolist(), std.tolist(), inplace=True) is values
    assert (values.numpy() == expected).all()


@pytest.mark.parametrize("kind", ["image", "tensor"])
def test_geometry_equals_numpy(image, kind):
    source = image if kind == "image" else rushlight.from_numpy(PIXELS.transpose(2, 0, 1).copy())

    def array(result):
        if kind == "image":
            return pixels_of(result)
        return result.numpy().transpose(1, 2, 0)

    assert (array(functional.hflip(source)) == PIXELS[:, ::-1]).all()
    assert (array(functional.vflip(source)) == PIXELS[::-1]).all()
    assert (array(functional.crop(source, 2, 3, 5, 6)) == PIXELS[2:7, 3:9]).all()
    outside = numpy.pad(PIXELS, ((2, 0), (1, 0), (0, 0)))[:5, :6]
    assert (array(functional.crop(source, -2, -1, 5, 6)) == outside).all()
    assert (array(functional.center_crop(source, [7, 9])) == PIXELS[5:12, 7:16]).all()
    assert array(functional.center_crop(source, 30)).shape == (30, 30, 3)
    for mode in ("constant", "edge", "reflect", "symmetric"):
        expected = numpy.pad(PIXELS, ((2, 4), (1, 3), (0, 0)), mode)
        assert (array(functional.pad(source, (1, 2, 3, 4), 0, mode)) == expected).all()
    assert len(functional.five_crop(source, 5)) == 5
    assert functional.get_dimensions(source) == [3, 17, 23]
    assert functional.get_image_size(source) == [23, 17]


@pytest.mark.parametrize("size", [8, (8, 30), [40], (50, 6)])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_resize_of_tensors_follows_pillow(image, size, mode):
    mode = InterpolationMode(mode)
    grey = image.convert("F")
    expected = numpy.asarray(functional.resize(grey, size, mode))
    result = functional.resize(functional.pil_to_tensor(grey), size, mode)
    assert result.shape[1:] == expected.shape
    if mode is not InterpolationMode.NEAREST:  # Pillow takes the middle, torch the corner
        assert numpy.allclose(result[0].numpy(), expected, atol=1e-3)


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest", "nearest-exact"])
@pytest.mark.parametrize("size", [(5, 9), (30, 41)])
def test_resize_is_torchs_interpolate(reference, antialias, mode, size):
    values = numpy.random.default_rng(1).random((2, 3, 17, 23), dtype=numpy.float32)
    smooth = mode in ("bilinear", "bicubic")
    expected = reference.nn.functional.interpolate(
        reference.from_numpy(values),
        size,
        mode=mode,
        align_corners=False if smooth else None,
        antialias=antialias and smooth,
    )
    result = functional.resize(
        rushlight.from_numpy(values), size, InterpolationMode(mode), antialias=antialias
    )
    assert numpy.allclose(result.numpy(), expected.numpy(), atol=2e-6)


def test_resize_carries_a_gradient():
    values = rushlight.rand(1, 6, 6, requires_grad=True)
    functional.resize(values, (3, 3)).sum().backward()
    assert abs(values.grad.sum().item() - 9) < 1e-5


REPRS = [
    (transforms.ToTensor(), "ToTensor()"),
    (transforms.ToPILImage("L"), "ToPILImage(mode=L)"),
    (transforms.Normalize((0.5,), (0.5,)), "Normalize(mean=(0.5,), std=(0.5,))"),
    (
        transforms.Resize(32),
        "Resize(size=32, interpolation=bilinear, max_size=None, antialias=True)",
    ),
    (transforms.CenterCrop(3), "CenterCrop(size=(3, 3))"),
    (transforms.RandomCrop(32, padding=4), "RandomCrop(size=(32, 32), padding=4)"),
    (
        transforms.RandomResizedCrop(224),
        "RandomResizedCrop(size=(224, 224), scale=(0.08, 1.0), ratio=(0.75, 1.3333), "
        "interpolation=bilinear, antialias=True)",
    ),
    (transforms.RandomHorizontalFlip(), "RandomHorizontalFlip(p=0.5)"),
    (
        transforms.RandomRotation(10),
        "RandomRotation(degrees=[-10.0, 10.0], interpolation=nearest, expand=False, fill=0)",
    ),
    (
        transforms.ColorJitter(0.1, 0.2, 0.3, 0.1),
        "ColorJitter(brightness=(0.9, 1.1), contrast=(0.8, 1.2), saturation=(0.7, 1.3), "
        "hue=(-0.1, 0.1))",
    ),
    (transforms.Pad(2), "Pad(padding=2, fill=0, padding_mode=constant)"),
    (transforms.Grayscale(), "Grayscale(num_output_channels=1)"),
    (transforms.Lambda(len), "Lambda()"),
    (transforms.ConvertImageDtype(rushlight.float32), "ConvertImageDtype()"),
    (
        transforms.RandomErasing(),
        "RandomErasing(p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False)",
    ),
    (
        transforms.RandomApply([transforms.ToTensor()]),
        "RandomApply(\n    p=0.5\n    ToTensor()\n)",
    ),
    (
        transforms.RandomChoice([transforms.ToTensor()]),
        "RandomChoice(\n    ToTensor()\n)(p=None)",
    ),
    (
        transforms.Compose([transforms.ToTensor(), transforms.PILToTensor()]),
        "Compose(\n    ToTensor()\n    PILToTensor()\n)",
    ),
]


@pytest.mark.parametrize(("transform", "text"), REPRS, ids=[t for _, t in REPRS])
def test_printed_forms(transform, text):
    assert repr(transform) == text


def test_draws_are_torchs(reference, image):
    """The random transforms take exactly these draws of the default generator."""

    def numbers(library):
        library.manual_seed(9)
        flip = library.rand(1).item()
        top, left = (library.randint(0, n, size=(1,)).item() for n in (9, 15))
        angle = library.empty(1).uniform_(-30.0, 30.0).item()
        return flip < 0.5, (top, left, 9, 9), angle

    flips, place, angle = numbers(reference)
    rushlight.manual_seed(9)
    flipped = transforms.RandomHorizontalFlip()(image)
    assert (pixels_of(flipped) == (PIXELS[:, ::-1] if flips else PIXELS)).all()
    assert transforms.RandomCrop.get_params(image, (9, 9)) == place
    # Whether a product and a sum are rounded once or twice depends on the processor.
    assert abs(transforms.RandomRotation.get_params([-30.0, 30.0]) - angle) < 1e-5


RANDOM = [
    lambda t: t.RandomCrop(9, padding=4),
    lambda t: t.RandomCrop((30, 40), pad_if_needed=True, padding_mode="edge"),
    lambda t: t.RandomResizedCrop(8),
    lambda t: t.RandomHorizontalFlip(),
    lambda t: t.RandomVerticalFlip(),
    lambda t: t.RandomRotation(30),
    lambda t: t.RandomRotation(30, t.InterpolationMode.BILINEAR, expand=True, fill=7),
    lambda t: t.ColorJitter(0.4, 0.4, 0.4, 0.2),
    lambda t: t.RandomGrayscale(0.5),
    lambda t: t.RandomApply([t.RandomCrop(5), t.RandomRotation(10)]),
    lambda t: t.RandomChoice([t.RandomCrop(5), t.CenterCrop(5)]),
    lambda t: t.RandomOrder([t.RandomCrop(9), t.CenterCrop(12)]),
    lambda t: t.Compose([t.ToTensor(), t.RandomErasing(1.0, value="random")]),
]


@pytest.mark.parametrize("make", RANDOM, ids=range(len(RANDOM)))
def test_random_transforms_repeat(make, image):
    def run(library, module, seed):
        library.manual_seed(seed)
        random.seed(seed)
        result = make(module)(image)
        pixels = result.numpy() if hasattr(result, "numpy") else pixels_of(result)
        return pixels.tolist(), library.rand(1).item()

    first = [run(rushlight, transforms, seed) for seed in range(4)]
    assert first == [run(rushlight, transforms, seed) for seed in range(4)]


def test_colours_of_tensors_follow_the_images(image):
    values = functional.to_tensor(image)
    for name, factor in (
        ("adjust_brightness", 1.4),
        ("adjust_contrast", 0.6),
        ("adjust_saturation", 1.7),
        ("adjust_hue", 0.2),
        ("adjust_gamma", 0.8),
    ):
        adjust = getattr(functional, name)
        by_image = functional.to_tensor(adjust(image, factor))
        assert (adjust(values, factor) - by_image).abs().mean().item() < 0.02, name
    assert (functional.invert(values) - (1 - values)).abs().max().item() == 0
    grey = functional.rgb_to_grayscale(values, 3)
    assert grey.shape == (3, 17, 23)
    with pytest.raises(ValueError, match=r"not in .-0\.5, 0\.5."):
        functional.adjust_hue(image, 0.7)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("uint8", [0, 127, 255]),
        ("int16", [0, 16383, 32767]),
        ("float64", [0.0, 0.5, 1.0]),
    ],
)
def test_convert_image_dtype(dtype, expected):
    values = rushlight.tensor([0.0, 0.5, 1.0])
    convert = transforms.ConvertImageDtype(getattr(rushlight, dtype))
    assert convert(values).tolist() == expected
    with pytest.raises(RuntimeError, match="cannot be performed safely"):
        functional.convert_image_dtype(values, rushlight.int64)


WRONG = [
    (lambda i: transforms.ToTensor()(rushlight.zeros(3)), TypeError, "pic should be PIL Image"),
    (lambda i: transforms.ToTensor()(numpy.zeros(3)), ValueError, "pic should be 2/3 dimensional"),
    (lambda i: transforms.ToPILImage()(3), TypeError, "pic should be Tensor or ndarray"),
    (lambda i: transforms.ToPILImage()(rushlight.zeros(5, 2, 2)), ValueError, "> 4 channels"),
    (lambda i: transforms.ToPILImage("F")(PIXELS), ValueError, "Only modes"),
    (lambda i: transforms.Normalize(0.5, 0.5)(i), TypeError, "should be Tensor Image"),
    (
        lambda i: transforms.Normalize((0.5,), (0.5,))(rushlight.zeros(3, 2, 2).long()),
        TypeError,
        "should be a float tensor",
    ),
    (
        lambda i: transforms.Normalize((0.5,), (0.0,))(rushlight.zeros(3, 2, 2)),
        ValueError,
        "std evaluated to zero",
    ),
    (lambda i: transforms.RandomCrop(400)(i), ValueError, "is larger than input image size"),
    (lambda i: transforms.Resize(2.5), TypeError, "Size should be int or sequence"),
    (lambda i: transforms.Resize((1, 2, 3)), ValueError, "1 or 2 values"),
    (lambda i: transforms.Pad((1, 2, 3)), ValueError, "Padding must be an int or a 1, 2, or 4"),
    (lambda i: transforms.Resize(4)(PIXELS), TypeError, "Unexpected type"),
    (lambda i: transforms.Lambda(3), TypeError, "Argument lambd should be callable"),
    (lambda i: transforms.ColorJitter(-1), ValueError, "must be non negative"),
    (lambda i: transforms.RandomErasing(p=3), ValueError, "should be between 0 and 1"),
    (lambda i: transforms.VideoCrop, AttributeError, "VideoCrop is not in rushlight"),
]


@pytest.mark.parametrize(("call", "kind", "words"), WRONG, ids=[w for _, _, w in WRONG])
def test_errors(image, call, kind, words):
    with pytest.raises(kind) as caught:
        call(image)
    assert words in str(caught.value)


def test_v2(image):
    from rushlight.vision.transforms import v2

    chain = v2.Compose([v2.ToImage(), v2.CenterCrop(8), v2.ToDtype(rushlight.float32, scale=True)])
    pixels, label = chain(image, 3)
    expected = functional.to_tensor(functional.center_crop(image, 8))
    assert (pixels.numpy() == expected.numpy()).all()
    assert label == 3
    assert v2.ToImage()(PIXELS).shape == (3, 17, 23)
    assert v2.RandomHorizontalFlip(1.0)(pixels).shape == (3, 8, 8)
