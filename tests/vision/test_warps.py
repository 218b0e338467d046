"""Affine and perspective changes, and blurs, of PIL images and of bytes: torchvision's numbers."""

import pytest

import rushlight as torch

transforms = torch.vision.transforms
F = transforms.functional
NEAREST = transforms.InterpolationMode.NEAREST
BILINEAR = transforms.InterpolationMode.BILINEAR
ENDS = [[3, 2], [27, 1], [25, 16], [2, 18]]
CORNERS = [[0, 0], [29, 0], [29, 19], [0, 19]]

CALLS = {
    "affine": lambda x: F.affine(x, 17, [2, -1], 1.2, [5, -7], NEAREST, [1, 2, 3]),
    "bilinear affine": lambda x: F.affine(x, 17.0, [2, -1], 0.7, 3.0, BILINEAR, None, [3, 4]),
    "perspective": lambda x: F.perspective(x, CORNERS, ENDS, BILINEAR, [9, 8, 7]),
    "blur": lambda x: F.gaussian_blur(x, [3, 5]),
    "RandomAffine": transforms.RandomAffine(30, (0.2, 0.1), (0.8, 1.3), 10),
    "RandomPerspective": transforms.RandomPerspective(p=1.0),
    "ElasticTransform": transforms.ElasticTransform(30.0, [1.0, 2.0], fill=7),
    "GaussianBlur": transforms.GaussianBlur((5, 9)),
}
# torchvision 0.29.2: the sum for a PIL image, and for a tensor.
SUMS = {
    "affine": (214816, 214816),
    "bilinear affine": (111645, 112090),
    "perspective": (154332, 150707),
    "blur": (229493, 229493),
    "RandomAffine": (133884, 133884),
    "RandomPerspective": (100212, 97474),
    "ElasticTransform": (193232, 193232),
    "GaussianBlur": (229503, 229503),
}


@pytest.mark.parametrize("kind", [0, 1], ids=["PIL", "tensor"])
@pytest.mark.parametrize("name", CALLS)
def test_sums(name, kind):
    pixels = ((torch.arange(3 * 20 * 30).float() * 0.37).sin() * 127 + 128).to(torch.uint8)
    image = pixels.reshape(3, 20, 30)
    if kind == 0:
        pytest.importorskip("PIL")
        image = F.to_pil_image(image)
    torch.manual_seed(3)
    found = CALLS[name](image)
    found = found if kind else F.pil_to_tensor(found)
    assert found.shape == (3, 20, 30) and found.dtype == torch.uint8
    assert found.double().sum().item() == pytest.approx(SUMS[name][kind], abs=20)


def test_what_is_refused():
    image = torch.zeros(3, 8, 8)
    for call, error, words in (
        (lambda: F.affine(image, "1", [0, 0], 1.0, 0), TypeError, "angle should be int or float"),
        (lambda: F.affine(image, 1, 3, 1.0, 0), TypeError, "translate should be a sequence"),
        (lambda: F.affine(image, 1, [0], 1.0, 0), ValueError, "sequence of length 2"),
        (lambda: F.affine(image, 1, [0, 0], 0.0, 0), ValueError, "scale should be positive"),
        (lambda: F.affine(image, 1, [0, 0], 1.0, "0"), TypeError, "Shear should be either"),
        (lambda: F.affine(image, 1, [0, 0], 1.0, [0] * 3), ValueError, "containing two values"),
        (lambda: F.perspective(image, CORNERS[:3], ENDS[:3]), ValueError, "four points"),
        (lambda: F.elastic_transform(image, 3), TypeError, "displacement should be a Tensor"),
        (lambda: F.elastic_transform(image, image), ValueError, "displacement shape should be"),
        (lambda: transforms.ElasticTransform("x"), TypeError, "alpha should be"),
        (lambda: F.gaussian_blur(image, 4), ValueError, "odd and positive"),
        (lambda: F.gaussian_blur(image, 3, 0.0), ValueError, "sigma should have positive"),
        (lambda: F.gaussian_blur(image, [3, 3, 3]), ValueError, "length should be 2"),
        (lambda: transforms.RandomAffine(-1), ValueError, "must be positive"),
        (lambda: transforms.RandomAffine(1, (0.1, 2)), ValueError, "between 0 and 1"),
        (lambda: transforms.RandomAffine(1, scale=(0, 2)), ValueError, "should be positive"),
        (lambda: transforms.RandomAffine(1, shear=(1, 2, 3)), ValueError, "length 2 or 4"),
        (lambda: transforms.RandomPerspective(2.0), ValueError, "between 0 and 1"),
        (lambda: transforms.GaussianBlur(2), ValueError, "odd and positive"),
        (lambda: transforms.GaussianBlur(3, (2, 1)), ValueError, r"form \(min, max\)"),
    ):
        with pytest.raises(error, match=words):
            call()
    bicubic = transforms.InterpolationMode.BICUBIC
    with pytest.raises(ValueError, match="use nearest or bilinear"):
        F.affine(image, 1, [0, 0], 1.0, 0, bicubic)
    corners = [[0, 0]] * 4
    with pytest.raises(RuntimeError):
        F.perspective(image, corners, corners)
