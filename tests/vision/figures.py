"""python -m tests.vision.figures: what torchvision's networks have and find, for test_networks.py.

Where torchvision is installed this writes figures.json; the tests ask rushlight the same questions.
Weights are the same numbers in both, by a formula of the entry's name.
"""

import collections
import functools
import json
import math
import pathlib
import zlib

FILE = pathlib.Path(__file__).with_suffix(".json")
ABSENT = ("quantized_",)


def entries(model):
    """{name of an entry of the state: its shape}, as text."""
    return {name: list(value.shape) for name, value in model.state_dict().items()}


def checksum(model):
    """One number of all names and shapes, in their order."""
    return zlib.crc32(json.dumps(list(entries(model).items())).encode())


def made(models, name):
    """A model by its name, without weights."""
    whole = {"weights": None}
    detects = any(word in name for word in ("rcnn", "retinanet", "ssd", "fcos"))
    segments = any(word in name for word in ("deeplab", "fcn", "lraspp"))
    if detects or segments:
        whole["weights_backbone"] = None
    if name in ("googlenet", "inception_v3"):
        whole["init_weights"] = False
    return models.get_model(name, **whole)


def fill(torch, model, gain=1.0):
    """Numbers for all entries, that keep signals about as large as they are."""
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if not value.is_floating_point():
                continue
            phase = zlib.crc32(name.encode()) % 1000
            waves = (torch.arange(value.numel(), dtype=torch.float64) * 12.9898 + phase).sin()
            if value.dim() > 1:
                fan = value.numel() // value.shape[0]
                waves *= gain * math.sqrt(4 / fan)
            elif name.endswith(("running_var", "weight")):
                waves = 1 + 0.1 * waves
            else:
                waves *= 0.1
            value.copy_(waves.reshape(value.shape))
    return model


def images(torch, *sizes):
    """Images (3, h, w) of waves, from 0 to 1."""
    return [
        (torch.arange(3 * h * w).float() * 0.37 + i).sin().reshape(3, h, w) * 0.5 + 0.5
        for i, (h, w) in enumerate(sizes)
    ]


def targets(torch):
    """Two objects in the first image, one in the second."""
    found = []
    for boxes in ([[4.0, 6.0, 40.0, 50.0], [20.0, 10.0, 60.0, 44.0]], [[5.0, 5.0, 33.0, 50.0]]):
        masks = torch.zeros(len(boxes), 64, 64, dtype=torch.uint8)
        points = torch.zeros(len(boxes), 17, 3)
        for i, (x1, y1, x2, y2) in enumerate(boxes):
            masks[i, int(y1) : int(y2), int(x1) + 3 : int(x2)] = 1
            points[i, :, 0] = torch.linspace(x1, x2, 17)
            points[i, :, 1] = torch.linspace(y1, y2, 17)
            points[i, 3:, 2] = 1
        found.append(
            {
                "boxes": torch.tensor(boxes),
                "labels": torch.arange(1, len(boxes) + 1).clamp(max=1 if len(boxes) == 1 else 2),
                "masks": masks,
                "keypoints": points,
            }
        )
    return found


SMALL = {"min_size": 64, "max_size": 96}
FEW = {"rpn_pre_nms_top_n_train": 60, "rpn_post_nms_top_n_train": 30,
       "rpn_pre_nms_top_n_test": 60, "rpn_post_nms_top_n_test": 30,
       "box_score_thresh": 0.05, "box_detections_per_img": 10}  # fmt: skip


def backbone(torch, detection):
    """Four convolutions and a pyramid of five maps."""
    nn = torch.nn
    layers = {"a": nn.Conv2d(3, 8, 5, 4, 2)} | {k: nn.Conv2d(8, 8, 3, 2, 1) for k in "bcd"}
    body = nn.Sequential(collections.OrderedDict(layers))
    names = {name: str(i) for i, name in enumerate("abcd")}
    return detection.backbone_utils.BackboneWithFPN(body, names, [8] * 4, 32)


def detector(torch, models, name):
    """A detector with few channels, and the numbers of fill()."""
    detection = models.detection
    nn, norm = torch.nn, torch.nn.BatchNorm2d
    pyramid = backbone(torch, detection)
    faster, mask, point = (getattr(detection, f"{x}_rcnn") for x in ("faster", "mask", "keypoint"))
    boxes = {"box_head": faster.TwoMLPHead(32 * 49, 16),
             "box_predictor": faster.FastRCNNPredictor(16, 4), **SMALL, **FEW}  # fmt: skip
    anchors = detection.anchor_utils.DefaultBoxGenerator([[2], [2, 3], [2, 3], [2], [2]])
    ssd = {"anchor_generator": anchors, "size": (80, 64), "num_classes": 4,
           "detections_per_img": 10}  # fmt: skip
    counts = anchors.num_anchors_per_location()
    ten = {"num_classes": 4, "detections_per_img": 10, **SMALL}
    second = detection.retinanet.RetinaNetHead(
        32, 9, 4, norm_layer=functools.partial(nn.GroupNorm, 4)
    )
    second.regression_head._loss_type = "giou"
    makes = {
        "faster": lambda: faster.FasterRCNN(pyramid, **boxes),
        "faster_v2": lambda: faster.FasterRCNN(
            pyramid,
            **boxes
            | {
                "rpn_head": detection.rpn.RPNHead(32, 3, conv_depth=2),
                "box_head": faster.FastRCNNConvFCHead((32, 7, 7), [8, 8], [16], norm),
            },
        ),
        "mask": lambda: mask.MaskRCNN(
            pyramid,
            mask_head=mask.MaskRCNNHeads(32, [8, 8], 1, norm),
            mask_predictor=mask.MaskRCNNPredictor(8, 8, 4),
            **boxes,
        ),
        "keypoint": lambda: point.KeypointRCNN(
            pyramid,
            keypoint_head=point.KeypointRCNNHeads(32, (8, 8)),
            keypoint_predictor=point.KeypointRCNNPredictor(8, 17),
            **boxes,
        ),
        "retinanet": lambda: detection.retinanet.RetinaNet(pyramid, **ten),
        "retinanet_v2": lambda: detection.retinanet.RetinaNet(pyramid, head=second, **ten),
        "fcos": lambda: detection.fcos.FCOS(pyramid, **ten, score_thresh=0.05),
        "ssd": lambda: detection.ssd.SSD(
            pyramid, **ssd, head=detection.ssd.SSDHead([32] * 5, counts, 4)
        ),
        "ssdlite": lambda: detection.ssd.SSD(
            pyramid, **ssd, head=detection.ssdlite.SSDLiteHead([32] * 5, counts, 4, norm)
        ),
    }
    # Few scores of 1, whose order would be chance.
    gain = 0.3 if name in ("retinanet", "retinanet_v2", "ssd", "ssdlite") else 0.8
    return fill(torch, makes[name](), gain)


DETECTORS = ("faster faster_v2 mask keypoint retinanet retinanet_v2 fcos ssd ssdlite").split()


CLASSIFIERS = (
    "convnext_tiny efficientnet_v2_s googlenet inception_v3 maxvit mnasnet0_5 regnet_x_400mf "
    "regnet_y_400mf shufflenet_v2_x0_5 swin_t swin_v2_t mc3_18 mvit_v1 mvit_v2 r2plus1d_18 r3d_18 "
    "s3d swin3d_t"
).split()


def multiscale(video, second):
    """A small MViT of the first or the second kind."""
    blocks = [
        video.mvit.MSBlockConfig(1, 16, 16 if second else 32, [3] * 3 if second else [], [3] * 3,
                                 [1] * 3 if second else [], [1, 4, 4]),
        video.mvit.MSBlockConfig(2, 16 if second else 32, 32, [3] * 3, [3] * 3, [1, 2, 2],
                                 [1, 2, 2]),
    ]  # fmt: skip
    return video.MViT(
        (64, 64), 8, blocks, residual_pool=second, residual_with_cls_embed=not second,
        rel_pos_embed=second, proj_after_attn=second,
    )  # fmt: skip


FLOWS = ("raft_small", "raft_large")


def flows(torch, models, name):
    """The sums of the flows after each of two steps, and some of their values."""
    model = fill(torch, made(models, name), 0.8).eval()
    first = images(torch, (128, 136))[0][None] * 2 - 1
    with torch.no_grad():
        found = model(first, first.flip(2), num_flow_updates=2)
    return [[x.double().abs().sum().item(), x[0, :, 5, 7:9].tolist()] for x in found]


def classified(torch, models, name):
    """The first logits of two images, or of two videos of four frames."""
    size = (90, 100) if name.startswith("swin") else (64, 64) if name == "maxvit" else (96, 96)
    if "_18" in name:
        size = (32, 40)
    if name.startswith("mvit"):
        model = multiscale(models.video, name == "mvit_v2")
    elif name == "maxvit":
        model = models.MaxVit(size, 8, 2, [16, 32], [1, 2], head_dim=8, stochastic_depth_prob=0.2)
    else:
        model = made(models, name)
    model = fill(torch, model, 0.8).eval()
    if name == "s3d":  # whose last average needs 14 frames of 224 x 224
        batch = torch.stack(images(torch, *[(224, 224)] * 14), 1)[None]
        with torch.no_grad():
            return model(batch)[:, :6].tolist()
    if name.startswith(("mvit", "swin3d")):
        frames = [(64, 64)] * 8 if name.startswith("mvit") else [(70, 100)] * 11
        batch = torch.stack(images(torch, *frames), 1)[None]
        with torch.no_grad():
            return model(batch)[:, :6].tolist()
    batch = torch.stack(images(torch, size, size))
    if "_18" in name:
        shades = torch.tensor([0.4, 0.6, 0.8, 1.0]).reshape(4, 1, 1)
        batch = batch.unsqueeze(2) * shades
    with torch.no_grad():
        return model(batch)[:, :6].tolist()


def learned(torch, model):
    """{loss: value} of a step of training, and the sum of the gradients' absolute values."""
    torch.manual_seed(1)
    model.train()
    for module in model.modules():  # statistics of two images alone would amplify rounding
        if "BatchNorm" in type(module).__name__:
            module.eval()
    losses = model(images(torch, (64, 64), (64, 64)), targets(torch))
    sum(losses.values()).backward()
    total = sum(
        p.grad.double().abs().sum().item() for p in model.parameters() if p.grad is not None
    )
    return {name: value.item() for name, value in losses.items()} | {"gradients": total}


def detected(torch, model):
    """What is found in two images: each result's shape, sum and first values."""
    with torch.no_grad():
        results = model.eval()(images(torch, (64, 80), (50, 64)))
    return [
        {
            name: [list(x.shape), x.double().sum().item(), x.double().flatten()[:8].tolist()]
            for name, x in sorted(result.items())
        }
        for result in results
    ]


def without_starting(torch):
    """Networks are made with whatever is in memory: the largest would take minutes."""
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *args, **kwargs: tensor)


def main():
    import torch
    import torchvision
    from torchvision import models

    torch.set_num_threads(1)
    figures = {"torchvision": torchvision.__version__, "torch": torch.__version__, "states": {}}
    figures["detectors"] = {
        name: [learned(torch, detector(torch, models, name)),
               detected(torch, detector(torch, models, name))]
        for name in DETECTORS
    }  # fmt: skip
    figures["flows"] = {name: flows(torch, models, name) for name in FLOWS}
    figures["classifiers"] = {name: classified(torch, models, name) for name in CLASSIFIERS}
    without_starting(torch)
    for name in models.list_models():
        if not name.startswith(ABSENT):
            figures["states"][name] = checksum(made(models, name))
    FILE.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
