"""Networks beside torchvision's: names and shapes of all states, losses and detections of small
detectors with the same numbers. figures.py says how the figures were made.
"""

import json

import pytest

import rushlight as torch
from tests.vision import figures

models = torch.vision.models
KNOWN = json.loads(figures.FILE.read_text())


def test_which_networks_there_are():
    names = models.list_models()  # the example of register_model may have added one
    ours = {n for n in names if models.get_model_builder(n).__module__.startswith("rushlight.")}
    assert ours == set(KNOWN["states"])


@pytest.mark.parametrize("name", sorted(KNOWN["states"]))
def test_names_and_shapes_of_a_state(name):
    with torch.device("meta"):
        model = figures.made(models, name)
    assert figures.checksum(model) == KNOWN["states"][name]


def close(found, known, relative):
    """All numbers of nested lists and dicts."""
    if isinstance(known, dict):
        assert list(found) == list(known)
        return all(close(found[name], known[name], relative) for name in known)
    if isinstance(known, list):
        assert len(found) == len(known)
        return all(close(a, b, relative) for a, b in zip(found, known, strict=True))
    assert found == pytest.approx(known, rel=relative, abs=1e-3)
    return True


@pytest.mark.parametrize("name", figures.CLASSIFIERS)
def test_what_a_classifier_finds(name):
    found = figures.classified(torch, models, name)
    assert close(found, KNOWN["classifiers"][name], 1e-4)


@pytest.mark.parametrize("name", figures.FLOWS)
def test_how_pixels_move(name):
    assert close(figures.flows(torch, models, name), KNOWN["flows"][name], 2e-3)


def test_what_flows_refuse():
    model = models.optical_flow.raft_small()
    image = torch.zeros(1, 3, 128, 128)
    for images, words in (
        ((image, image[..., :120]), "input images should have the same shape"),
        ((image[..., :124], image[..., :124]), "H and W should be divisible by 8"),
        ((image[..., :120], image[..., :120]), "should be at least 8 . 16 = 128"),
    ):
        with pytest.raises(ValueError, match=words):
            model(*images)
    part = models.optical_flow.raft_large(mask_predictor=torch.nn.Identity())
    assert isinstance(part.mask_predictor, torch.nn.Identity)


def test_a_video_that_is_smaller_than_a_window():
    model = models.video.swin3d_t(num_classes=3, depths=[1, 2], num_heads=[1, 2], embed_dim=8)
    clip = torch.zeros(2, 3, 5, 20, 30, requires_grad=True)
    model(clip).sum().backward()
    assert clip.grad is not None and model.head.weight.grad.shape == (3, 16)


@pytest.mark.parametrize("name", figures.DETECTORS)
def test_what_a_detector_learns(name):
    losses = figures.learned(torch, figures.detector(torch, models, name))
    assert close(losses, KNOWN["detectors"][name][0], 1e-4)


@pytest.mark.parametrize("name", figures.DETECTORS)
def test_what_a_detector_finds(name):
    found = figures.detected(torch, figures.detector(torch, models, name))
    assert close(found, KNOWN["detectors"][name][1], 1e-4)


def tiny():
    """A Faster R-CNN that is made quickly."""
    return figures.detector(torch, models, "faster")


def test_a_detector_of_published_size():
    model = models.detection.ssdlite320_mobilenet_v3_large(num_classes=3, weights_backbone=None)
    found = model.eval()(figures.images(torch, (40, 50)))
    assert sorted(found[0]) == ["boxes", "labels", "scores"]
    assert found[0]["boxes"].shape[1] == 4
    losses = model.train()(figures.images(torch, (64, 64), (64, 64)), figures.targets(torch))
    sum(losses.values()).backward()
    assert all(p.grad is not None for p in model.parameters())


@pytest.mark.parametrize("name", ["mask", "keypoint", "retinanet", "fcos", "ssd"])
def test_images_without_objects(name):
    model = figures.detector(torch, models, name).train()
    empty = {
        "boxes": torch.zeros(0, 4),
        "labels": torch.zeros(0, dtype=torch.int64),
        "masks": torch.zeros(0, 64, 64, dtype=torch.uint8),
        "keypoints": torch.zeros(0, 17, 3),
    }
    losses = model(figures.images(torch, (64, 64), (64, 64)), [empty, figures.targets(torch)[1]])
    assert all(loss.isfinite() for loss in losses.values())
    sum(losses.values()).backward()
    for part in (model, getattr(model, "roi_heads", model)):
        part.score_thresh = 2.0  # nothing is found
    found = model.eval()(figures.images(torch, (64, 64), (64, 64)))[0]
    assert len(found["boxes"]) == 0
    if name == "mask":
        assert found["masks"].shape == (0, 1, 64, 64)
    if name == "keypoint":
        assert found["keypoints"].shape == (0, 17, 3)


def test_what_detectors_refuse():
    model, images = tiny().train(), figures.images(torch, (64, 64))
    with pytest.raises(AssertionError, match="targets should not be none when in training mode"):
        model(images)
    flat = {"boxes": torch.tensor([[5.0, 5.0, 5.0, 9.0]]), "labels": torch.tensor([1])}
    with pytest.raises(AssertionError, match="should have positive height and width"):
        model(images, [flat])
    with pytest.raises(AssertionError, match=r"tensor of shape \[N, 4\]"):
        model(images, [flat | {"boxes": torch.zeros(4)}])
    good = flat | {"boxes": torch.tensor([[5.0, 5.0, 15.0, 19.0]])}
    with pytest.raises(TypeError, match="labels must of int64 type"):
        model(images, [good | {"labels": torch.tensor([1.0])}])
    with pytest.raises(IndexError):
        model(images, [good | {"labels": torch.tensor([9])}])
    with pytest.raises(TypeError, match="images to be of floating type"):
        model.eval()([(image * 255).to(torch.uint8) for image in images])
    with pytest.raises(ValueError, match="list of 3d tensors"):
        model([torch.zeros(1, 3, 8, 8)])
    make = models.detection.fasterrcnn_resnet50_fpn
    with pytest.raises(ValueError, match="expected value 91 but got 2"):
        make(weights="DEFAULT", num_classes=2)
    with pytest.raises(TypeError, match="expected FasterRCNN_ResNet50_FPN_Weights but received"):
        make(weights=models.VGG11_Weights.DEFAULT)
    with pytest.raises(ValueError, match="num_classes should not be None when box_predictor"):
        models.detection.FasterRCNN(figures.backbone(torch, models.detection))


def test_numbers_that_are_none():
    model = tiny().eval()
    image = torch.full((3, 64, 64), float("nan"))
    assert len(model([image])[0]["boxes"]) == 0
    image = torch.full((3, 64, 64), 1e30)
    assert model([image])[0]["boxes"].shape[1] == 4


def test_old_names_in_published_files():
    from rushlight.vision.models.detection.mask_rcnn import MaskRCNNHeads
    from rushlight.vision.models.detection.retinanet import RetinaNetClassificationHead
    from rushlight.vision.models.detection.rpn import RPNHead
    from rushlight.vision.ops import FeaturePyramidNetwork

    def old(name):
        return name.replace(".0.weight", ".weight").replace(".0.bias", ".bias")

    heads = {
        RPNHead(4, 3): lambda name: name.replace("conv.0.0.", "conv."),
        FeaturePyramidNetwork([4, 8], 4): old,
        MaskRCNNHeads(4, [4, 4], 1): lambda name: f"mask_fcn{int(name[0]) + 1}{name[3:]}",
        RetinaNetClassificationHead(4, 1, 2): lambda name: (
            f"conv.{2 * int(name[5])}{name[8:]}" if name.startswith("conv.") else name
        ),
    }
    for model, rename in heads.items():
        state = {name: torch.full_like(value, 2.0) for name, value in model.state_dict().items()}
        model.load_state_dict({rename(name): value for name, value in state.items()})
        assert all((value == 2).all() for value in model.state_dict().values())


def test_parts_that_learn():
    from rushlight.vision.models.detection import backbone_utils

    make = backbone_utils.resnet_fpn_backbone
    model = make(backbone_name="resnet18", weights=None, trainable_layers=2)
    frozen = {name.split(".")[1] for name, p in model.named_parameters() if not p.requires_grad}
    assert frozen == {"conv1", "layer1", "layer2"}  # normalisations are frozen anyway
    with pytest.raises(ValueError, match="Trainable layers should be in the range"):
        make(backbone_name="resnet18", weights=None, trainable_layers=6)
    model = backbone_utils.mobilenet_backbone(
        backbone_name="mobilenet_v2", weights=None, fpn=False, trainable_layers=1
    )
    assert model(torch.zeros(1, 3, 32, 32)).shape == (1, 256, 1, 1)
