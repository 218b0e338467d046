"""Models with the arguments of torchvision before 0.13: they serve, with its warnings."""

import warnings

import pytest

from rushlight.vision import models

PRETRAINED = (
    "The parameter 'pretrained' is deprecated since 0.13 and may be removed in the future, please "
    "use 'weights' instead."
)
NONE = (
    "Arguments other than a weight enum or `None` for 'weights' are deprecated since 0.13 and may "
    "be removed in the future. The current behavior is equivalent to passing `weights=None`."
)
BY_POSITION = (
    "Using {} as positional parameter(s) is deprecated since 0.13 and may be removed in the "
    "future. Please use keyword parameter(s) instead."
)


def of_backbone(text):
    return text.replace("pretrained", "pretrained_backbone").replace("weights", "weights_backbone")


CALLS = {
    "by name": (lambda: models.squeezenet1_1(pretrained=False), [PRETRAINED, NONE]),
    "by position": (
        lambda: models.squeezenet1_1(False),
        [BY_POSITION.format("'weights'"), NONE],
    ),
    "two by position": (
        lambda: models.squeezenet1_1(False, True),
        [BY_POSITION.format("'weights' and 'progress'"), NONE],
    ),
    "None by position": (
        lambda: models.squeezenet1_1(None),
        [BY_POSITION.format("'weights'")],
    ),
    "a bool as weights": (lambda: models.squeezenet1_1(weights=False), [NONE]),
    "of today": (lambda: models.squeezenet1_1(weights=None, num_classes=2), []),
    "a segmentation network": (
        lambda: models.segmentation.lraspp_mobilenet_v3_large(
            pretrained=False, pretrained_backbone=False
        ),
        [PRETRAINED, NONE, of_backbone(PRETRAINED), of_backbone(NONE)],
    ),
    "a detector": (
        lambda: models.detection.ssdlite320_mobilenet_v3_large(
            False, True, 3, pretrained_backbone=False
        ),
        [
            BY_POSITION.format("'weights', 'progress', and 'num_classes'"), NONE,
            of_backbone(PRETRAINED), of_backbone(NONE),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_warnings(name):
    call, expected = CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    said = [(str(w.message), w.filename) for w in caught if w.category is UserWarning]
    assert said == [(text, __file__) for text in expected]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_first_weights_are_meant(monkeypatch):
    asked = []

    def fetch(self, *args, **kwargs):
        asked.append(str(self))
        raise RuntimeError("no network")

    monkeypatch.setattr(models.WeightsEnum, "get_state_dict", fetch)
    for call in (
        lambda: models.resnet18(pretrained=True),
        lambda: models.resnet18(weights=True),
        lambda: models.resnet18("legacy"),
        lambda: models.detection.ssd300_vgg16(weights=None, pretrained_backbone=True),
    ):
        with pytest.raises(RuntimeError, match="no network"):
            call()
    assert asked == [*["ResNet18_Weights.IMAGENET1K_V1"] * 3, "VGG16_Weights.IMAGENET1K_FEATURES"]


def test_names_twice_and_too_many():
    with pytest.raises(TypeError, match="multiple values for argument 'weights'"):
        models.resnet18(None, weights=None)
    with pytest.raises(TypeError, match="at most 2 arguments are positional, but 3 are given"):
        models.resnet18(None, True, 5)


def test_names_that_programs_import():
    from rushlight.vision.models.detection.anchor_utils import AnchorGenerator
    from rushlight.vision.models.detection.rpn import AnchorGenerator as Same

    assert Same is AnchorGenerator
