"""TrivialAugmentWide: every change on every kind of image, draws by the seed."""

import pytest

import rushlight as torch
from rushlight.vision import transforms
from rushlight.vision.transforms import augment

Image = pytest.importorskip("PIL.Image")


def picture(mode="RGB"):
    return Image.linear_gradient("L").resize((20, 12)).convert(mode)


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("name", transforms.TrivialAugmentWide()._strengths(31))
def test_every_change(name, mode):
    strengths, signed = transforms.TrivialAugmentWide()._strengths(31)[name]
    first, last = (0.0, 0.0) if strengths is None else (strengths[0].item(), strengths[-1].item())
    for strength in {first, last, -last if signed else last}:
        mode_ = transforms.InterpolationMode.NEAREST
        changed = augment._changed(picture(mode), name, strength, mode_, None)
        assert changed.size == (20, 12) and changed.mode == mode
        if strength == first and name not in ("Solarize", "Equalize", "AutoContrast", "Posterize"):
            assert changed.tobytes() == picture(mode).tobytes()


def test_moves_go_where_they_should():
    image = Image.new("L", (8, 8))
    image.putpixel((4, 4), 255)
    mode = transforms.InterpolationMode.NEAREST
    assert augment._changed(image, "TranslateX", 2.0, mode, None).getpixel((6, 4)) == 255
    assert augment._changed(image, "TranslateY", -3.0, mode, None).getpixel((4, 1)) == 255
    assert augment._changed(image, "TranslateX", 2.0, mode, 7).getpixel((0, 0)) == 7
    sheared = augment._changed(image, "ShearX", 0.5, mode, None)
    assert sheared.getpixel((2, 4)) == 255


def test_draws():
    transform = transforms.TrivialAugmentWide()
    seen = set()
    for seed in range(60):
        torch.manual_seed(seed)
        first = transform(picture())
        torch.manual_seed(seed)
        assert first.tobytes() == transform(picture()).tobytes()
        seen.add(first.tobytes())
    assert len(seen) > 20
    assert "num_magnitude_bins=31" in repr(transform)
    with pytest.raises(TypeError, match="takes PIL images here, not Tensor: put it before"):
        transform(torch.zeros(3, 4, 4))
