"""AutoAugment and its relatives: every change on every kind of image, torchvision's draws."""

import pytest

import rushlight as torch
from rushlight.vision import transforms
from rushlight.vision.transforms import autoaugment, functional

Image = pytest.importorskip("PIL.Image")
STRENGTHS = transforms.TrivialAugmentWide()._strengths(31, 12, 20)


def picture(mode="RGB"):
    return Image.linear_gradient("L").resize((20, 12)).convert(mode)


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("name", STRENGTHS)
def test_every_change(name, mode):
    strengths, signed = STRENGTHS[name]
    first, last = (0.0, 0.0) if strengths is None else (strengths[0].item(), strengths[-1].item())
    for strength in {first, last, -last if signed else last}:
        mode_ = transforms.InterpolationMode.NEAREST
        changed = autoaugment.changed(functional, picture(mode), name, strength, mode_, None)
        assert changed.size == (20, 12) and changed.mode == mode
        if strength == first and name not in ("Solarize", "Equalize", "AutoContrast", "Posterize"):
            assert changed.tobytes() == picture(mode).tobytes()


def test_moves_go_where_they_should():
    image = Image.new("L", (8, 8))
    image.putpixel((4, 4), 255)
    mode = transforms.InterpolationMode.NEAREST

    def moved(name, strength, fill=None):
        return autoaugment.changed(functional, image, name, strength, mode, fill)

    assert moved("TranslateX", 2.0).getpixel((6, 4)) == 255
    assert moved("TranslateY", -3.0).getpixel((4, 1)) == 255
    assert moved("TranslateX", 2.0, 7).getpixel((0, 0)) == 7
    assert moved("ShearX", 0.5).getpixel((2, 4)) == 255


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


# torchvision 0.29.2: the sums of the image after the changes of seeds 0 to 7.
SUMS = {
    ("v1", "RandAugment()"): [205946, 205413, 89986, 227762, 166022, 221972, 261694, 261395],
    ("v1", "TrivialAugmentWide()"): [0, 229154, 122010, 228675, 201568, 189333, 122010, 182835],
    ("v1", "AutoAugment()"): [262673, 262673, 227116, 254218, 190483, 188192, 229503, 189989],
    ("v1", "AutoAugment(AutoAugmentPolicy.CIFAR10)"): [
        229503,
        153102,
        262673,
        262673,
        223200,
        262673,
        229503,
        262673,
    ],
    ("v1", "AutoAugment(AutoAugmentPolicy.SVHN)"): [
        229497,
        70768,
        200878,
        275379,
        219621,
        183621,
        219560,
        229497,
    ],
    ("v1", "AugMix()"): [225340, 214715, 226479, 229114, 225721, 224178, 225191, 156975],
    ("v1", "AugMix(all_ops=False,chain_depth=2)"): [
        229780,
        237991,
        219455,
        197450,
        188956,
        233225,
        215042,
        223641,
    ],
    ("v2", "RandAugment()"): [205413, 205413, 89986, 227762, 166022, 222720, 261774, 261401],
    ("v2", "TrivialAugmentWide()"): [0, 228233, 122019, 228604, 201568, 189333, 122019, 182837],
    ("v2", "AutoAugment()"): [262673, 262673, 229327, 254204, 190486, 188192, 229503, 189438],
    ("v2", "AutoAugment(AutoAugmentPolicy.CIFAR10)"): [
        229503,
        153073,
        262673,
        262673,
        223200,
        262673,
        229503,
        262673,
    ],
    ("v2", "AutoAugment(AutoAugmentPolicy.SVHN)"): [
        229497,
        70768,
        200819,
        275401,
        219560,
        183621,
        219555,
        229497,
    ],
    ("v2", "AugMix()"): [228049, 218423, 226511, 229103, 225693, 224043, 225215, 157029],
    ("v2", "AugMix(all_ops=False,chain_depth=2)"): [
        229787,
        237991,
        219455,
        197450,
        188924,
        233225,
        214972,
        222787,
    ],
}


@pytest.mark.parametrize("version, call", SUMS)
def test_sums(version, call):
    names = vars(transforms if version == "v1" else transforms.v2)
    transform = eval(call, dict(names))
    pixels = ((torch.arange(3 * 20 * 30).float() * 0.37).sin() * 127 + 128).to(torch.uint8)
    image, found = pixels.reshape(3, 20, 30), []
    for seed in range(8):
        torch.manual_seed(seed)
        found.append(transform(image).double().sum().item())
    assert found == pytest.approx(SUMS[version, call], abs=40)


def test_tones():
    bytes_ = torch.tensor([[[10, 200, 30], [60, 60, 250]]], dtype=torch.uint8)
    assert functional.posterize(bytes_, 2).tolist() == [[[0, 192, 0], [0, 0, 192]]]
    assert functional.solarize(bytes_, 60).tolist() == [[[10, 55, 30], [195, 195, 5]]]
    assert functional.autocontrast(bytes_).tolist() == [[[0, 201, 21], [53, 53, 255]]]
    even = torch.full((3, 4, 4), 7, dtype=torch.uint8)
    assert torch.equal(functional.equalize(even), even)
    assert torch.equal(functional.autocontrast(even), even)
    assert functional.equalize(even[:, :0]).shape == (3, 0, 4)
    for call, error, words in (
        (lambda: functional.posterize(bytes_, 9), ValueError, "between 0 and 8"),
        (lambda: functional.posterize(bytes_.float(), 2), TypeError, "Only torch.uint8"),
        (lambda: functional.equalize(bytes_.float()), TypeError, "Only torch.uint8"),
        (lambda: functional.solarize(bytes_, 256), TypeError, "less than bound of img"),
        (lambda: functional.adjust_sharpness(bytes_, -1), ValueError, "is not non-negative"),
        (lambda: transforms.AutoAugment("imagenet"), ValueError, "is not recognized"),
        (lambda: transforms.AugMix(severity=11), ValueError, "must be between"),
        (lambda: transforms.RandAugment()("x"), TypeError, "Unexpected type"),
    ):
        with pytest.raises(error, match=words):
            call()
