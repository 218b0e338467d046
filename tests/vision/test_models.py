"""torchvision.models: sizes as published, weights under their published names."""

import pytest

import rushlight as torch

models = torch.vision.models

# Parameters that the published descriptions give, for 1000 classes.
PARAMETERS = {
    "alexnet": 61100840,
    "convnext_tiny": 28589128,
    "densenet121": 7978856,
    "efficientnet_b0": 5288548,
    "mnasnet0_5": 2218512,
    "mobilenet_v2": 3504872,
    "mobilenet_v3_large": 5483032,
    "mobilenet_v3_small": 2542856,
    "regnet_x_400mf": 5495976,
    "regnet_y_400mf": 4344144,
    "resnet18": 11689512,
    "resnet50": 25557032,
    "shufflenet_v2_x0_5": 1366792,
    "squeezenet1_0": 1248424,
    "squeezenet1_1": 1235496,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_published_size_and_a_step(name):
    model = getattr(models, name)()
    assert sum(p.numel() for p in model.parameters()) == PARAMETERS[name]
    out = model.eval()(torch.randn(2, 3, 64, 64))
    assert out.shape == (2, 1000)
    out.sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_classifiers_on_the_way(tmp_path, monkeypatch):
    images = torch.randn(2, 3, 75, 75)
    model = models.inception_v3(num_classes=5, init_weights=False, aux_logits=False)
    assert model(images).shape == (2, 5)
    assert model.eval()(images).shape == (2, 5)
    model = models.googlenet(num_classes=1000, init_weights=False)
    found = model(images)
    assert [tuple(x.shape) for x in found] == [(2, 1000)] * 3
    assert found._fields == ("logits", "aux_logits2", "aux_logits1")
    monkeypatch.setattr(torch.hub, "_folder", str(tmp_path))
    (tmp_path / "checkpoints").mkdir()
    torch.save(model.state_dict(), tmp_path / "checkpoints" / "googlenet-1378be20.pth")
    loaded = models.googlenet(weights="DEFAULT")
    assert loaded.aux1 is None and not loaded.aux_logits and loaded.transform_input
    assert torch.equal(loaded.fc.weight, model.fc.weight)
    assert models.googlenet(weights="DEFAULT", aux_logits=True).aux1 is not None


def test_wider_and_larger_ones_on_meta():
    def count(make):
        with torch.no_grad():
            return sum(p.numel() for p in make().parameters())

    assert count(models.resnext50_32x4d) == 25028904
    assert count(models.wide_resnet50_2) == 68883240
    assert count(models.efficientnet_b2) == 9109994


# Parameters of the published weights, which have 21 classes.
SEGMENTATION = {
    "deeplabv3_mobilenet_v3_large": 11029328,
    "deeplabv3_resnet101": 60996202,
    "deeplabv3_resnet50": 42004074,
    "fcn_resnet101": 54314346,
    "fcn_resnet50": 35322218,
    "lraspp_mobilenet_v3_large": 3221538,
}


@pytest.mark.parametrize("name", SEGMENTATION)
def test_segmentation(name):
    aux = {} if "lraspp" in name else {"aux_loss": True}
    with torch.device("meta" if "101" in name else "cpu"):
        model = models.get_model(name, weights_backbone=None, **aux)
    assert sum(p.numel() for p in model.parameters()) == SEGMENTATION[name]
    if "101" in name:
        return
    found = model.eval()(torch.randn(1, 3, 48, 40))
    assert list(found) == (["out", "aux"] if aux else ["out"])
    assert all(x.shape == (1, 21, 48, 40) for x in found.values())
    sum(x.sum() for x in found.values()).backward()
    assert all(p.grad is not None for p in model.parameters())


def test_names_of_the_weights_of_segmentation():
    make = models.segmentation
    keys = list(make.deeplabv3_resnet50(weights_backbone=None, num_classes=2).state_dict())
    assert "backbone.layer4.2.bn3.bias" in keys and "classifier.0.convs.4.1.weight" in keys
    assert "classifier.0.project.1.running_var" in keys and keys[-1] == "classifier.4.bias"
    keys = list(make.lraspp_mobilenet_v3_large(weights_backbone=None).state_dict())
    assert "backbone.16.0.weight" in keys and "classifier.scale.1.weight" in keys
    keys = list(make.fcn_resnet50(weights_backbone=None, aux_loss=True).state_dict())
    assert "aux_classifier.4.bias" in keys and "backbone.fc.weight" not in keys
    keys = list(models.mobilenet_v3_small().state_dict())
    assert "features.1.block.1.fc1.weight" in keys and "classifier.3.bias" in keys
    assert make.FCN_ResNet50_Weights.DEFAULT.url.endswith("fcn_resnet50_coco-1167a1af.pth")


def test_segmentation_loads_the_kept_file(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.hub, "_folder", str(tmp_path))
    (tmp_path / "checkpoints").mkdir()
    make = models.segmentation.lraspp_mobilenet_v3_large
    original = make(weights_backbone=None)
    file = "lraspp_mobilenet_v3_large-d234d4ea.pth"
    torch.save(original.state_dict(), tmp_path / "checkpoints" / file)
    loaded = make(weights="DEFAULT")
    weights = [m.classifier.low_classifier.weight for m in (loaded, original)]
    assert torch.equal(*weights)
    with pytest.raises(ValueError, match="expected value 21 but got 3"):
        make(weights="DEFAULT", num_classes=3)
    with pytest.raises(NotImplementedError, match="does not use auxiliary loss"):
        make(weights_backbone=None, aux_loss=True)
    with pytest.raises(TypeError, match="expected LRASPP_MobileNet_V3_Large_Weights but"):
        make(weights=models.VGG11_Weights.DEFAULT)


def test_results_of_some_layers():
    getter = models._utils.IntermediateLayerGetter
    model = models.resnet18()
    found = getter(model, {"layer2": "a", "layer1": "b"})
    assert list(found) == ["conv1", "bn1", "relu", "maxpool", "layer1", "layer2"]
    assert list(found(torch.zeros(1, 3, 32, 32))) == ["b", "a"]
    with pytest.raises(ValueError, match="return_layers are not present in model"):
        getter(model, {"layer9": "a"})


def test_names_of_the_weights():
    keys = list(models.resnet50().state_dict())
    assert keys[:2] == ["conv1.weight", "bn1.weight"] and keys[-1] == "fc.bias"
    assert "layer1.0.downsample.1.running_var" in keys and "layer4.2.conv3.weight" in keys
    keys = list(models.densenet121(num_classes=2).state_dict())
    assert "features.denseblock1.denselayer1.norm1.weight" in keys
    assert "features.transition3.conv.weight" in keys and "classifier.bias" in keys
    keys = list(models.mobilenet_v2(num_classes=2).state_dict())
    assert "features.1.conv.0.0.weight" in keys and "features.18.1.bias" in keys
    keys = list(models.efficientnet_b0(num_classes=2).state_dict())
    assert "features.1.0.block.1.fc1.weight" in keys and "features.8.0.weight" in keys


def test_old_names_in_published_densenets():
    state = {"features.denseblock1.denselayer2.norm.1.weight": 1, "classifier.bias": 2}
    assert models.DenseNet.renamed(state) == {
        "features.denseblock1.denselayer2.norm1.weight": 1,
        "classifier.bias": 2,
    }


def test_same_seed_same_weights():
    made = []
    for _ in range(2):
        torch.manual_seed(3)
        made.append(models.resnet18(num_classes=4))
    assert all(torch.equal(a, b) for a, b in zip(*(m.parameters() for m in made), strict=True))


def test_weights_come_from_the_kept_file(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.hub, "_folder", str(tmp_path))
    (tmp_path / "checkpoints").mkdir()
    original = models.squeezenet1_1()
    torch.save(original.state_dict(), tmp_path / "checkpoints" / "squeezenet1_1-b8a52dc0.pth")
    enum = models.SqueezeNet1_1_Weights
    for weights in (enum.DEFAULT, enum.IMAGENET1K_V1, "DEFAULT", "IMAGENET1K_V1"):
        loaded = models.squeezenet1_1(weights=weights)
        assert torch.equal(loaded.classifier[1].weight, original.classifier[1].weight)
    with (
        pytest.warns(UserWarning, match="'pretrained' is deprecated"),
        pytest.warns(UserWarning, match="Arguments other than a weight enum"),
    ):
        loaded = models.squeezenet1_1(pretrained=True)
    assert torch.equal(loaded.classifier[1].weight, original.classifier[1].weight)


def test_what_does_not_fit_is_refused():
    with pytest.raises(TypeError, match="expected ResNet18_Weights but received VGG11_Weights"):
        models.resnet18(weights=models.VGG11_Weights.DEFAULT)
    with pytest.raises(ValueError, match="expected value 1000 but got 10"):
        models.resnet18(weights="DEFAULT", num_classes=10)
    with pytest.raises(ValueError, match="Unknown model resnet19"):
        models.get_model("resnet19")
    with pytest.raises(AttributeError, match="s3d"):
        models.s3d
    with pytest.raises(ValueError, match="groups=1 and base_width=64"):
        models.ResNet(models.BasicBlock, [1, 1, 1, 1], groups=2)


def test_enums():
    assert models.ResNet50_Weights.DEFAULT is models.ResNet50_Weights.IMAGENET1K_V2
    assert models.get_weight("ResNet18_Weights.DEFAULT").url.endswith("resnet18-f37072fd.pth")
    assert models.get_model_weights(models.vgg16) is models.VGG16_Weights
    assert models.get_weight("R3D_18_Weights.DEFAULT").name == "KINETICS400_V1"
    assert models.get_weight("Raft_Large_Weights.DEFAULT").name == "C_T_SKHT_V2"
    assert models.get_weight("Swin3D_B_Weights.DEFAULT").url.endswith("swin3d_b_1k-24f7c7c6.pth")
    with pytest.raises(ValueError, match="weight enum 'R' for the specific method"):
        models.get_weight("R.x")
    with pytest.raises(KeyError):
        models.get_weight("ResNet18_Weights.x")
    transform = models.ResNet18_Weights.DEFAULT.transforms()
    pytest.importorskip("PIL")
    from PIL import Image

    assert transform(Image.new("RGB", (300, 280))).shape == (3, 224, 224)


def test_how_images_and_videos_are_prepared():
    weights = models.EfficientNet_V2_L_Weights.DEFAULT.value
    assert (weights.crop_size, weights.interpolation, weights.mean) == (480, "bicubic", (0.5,) * 3)
    prepare = models.Swin_T_Weights.DEFAULT.transforms()
    assert (prepare.resize_size, prepare.interpolation.value) == ([232], "bicubic")
    total, three = (
        31668.13671875,
        [0.7324307560920715, 0.7324307560920715, 0.7501392960548401],
    )  # torchvision 0.29.2's
    transform = models.video.R3D_18_Weights.DEFAULT.transforms()
    frames = (torch.arange(2 * 3 * 9 * 11) * 7 % 256).reshape(2, 3, 9, 11).to(torch.uint8)
    found = transform(frames)
    assert found.shape == (3, 2, 112, 112)
    assert found.sum().item() == pytest.approx(total, rel=1e-4)
    assert found[1, 1, 5, :3].tolist() == pytest.approx(three, abs=1e-4)


def test_preparation_of_tensors_and_how_it_prints():
    weights = models.ResNet18_Weights.DEFAULT
    prepare = weights.transforms(crop_size=100, antialias=True)
    assert repr(prepare) == (
        "ImageClassification(\n    crop_size=[100]\n    resize_size=[256]\n"
        "    mean=[0.485, 0.456, 0.406]\n    std=[0.229, 0.224, 0.225]\n"
        "    interpolation=InterpolationMode.BILINEAR\n)"
    )
    image = (torch.arange(300 * 260 * 3) % 251).to(torch.uint8).reshape(3, 300, 260)
    assert prepare(image[None]).shape == (1, 3, 100, 100)
    assert torch.equal(prepare(image[None])[0], prepare(image))
    pytest.importorskip("PIL")
    from rushlight.vision.transforms.functional import to_pil_image

    near = (prepare(to_pil_image(image)) - prepare(image)).abs().max()
    assert near < 0.05  # two ways to round the bytes of a smaller image
    detect = models.detection.FasterRCNN_ResNet50_FPN_Weights.DEFAULT.transforms()
    assert repr(detect) == "ObjectDetection()" and detect(image).max() == 250 / 255
    assert torch.equal(detect(image), detect(to_pil_image(image)))
    segment = models.segmentation.FCN_ResNet50_Weights.DEFAULT.transforms(resize_size=None)
    assert repr(segment).startswith("SemanticSegmentation(\n    resize_size=None\n    mean=")
    assert segment(image).shape == image.shape and segment(image).mean().abs() < 0.5


def test_networks_of_other_sizes():
    config = models.efficientnet.MBConvConfig(4, 3, 2, 8, 16, 2, width_mult=2.0, depth_mult=1.5)
    assert (config.input_channels, config.out_channels, config.num_layers) == (16, 32, 3)
    fused = models.efficientnet.FusedMBConvConfig(1, 3, 1, 8, 16, 1)
    network = models.EfficientNet([fused, config], 0.1, num_classes=3, last_channel=24)
    assert network(torch.randn(2, 3, 16, 16)).shape == (2, 3)
    with pytest.raises(ValueError, match="should not be empty"):
        models.EfficientNet([], 0.1)
    with pytest.raises(TypeError, match=r"List\[MBConvConfig\]"):
        models.EfficientNet([(1, 3)], 0.1)
    with pytest.raises(ValueError, match="multiples of 16"):
        models.MaxVit((20, 24), 8, 2, [16, 32], [1, 1], 8, 0.0)
    with pytest.raises(ValueError, match="must be divisible by head_dim"):
        models.MaxVit((16, 16), 8, 2, [12, 32], [1, 1], 8, 0.0)


@pytest.mark.parametrize("name", ["swin_t", "swin_v2_t"])
def test_a_step_of_swin(name):
    swin = models.swin_transformer
    second = name.startswith("swin_v2")
    options = {"block": swin.SwinTransformerBlockV2, "downsample_layer": swin.PatchMergingV2}
    network = models.SwinTransformer(
        [4, 4], 8, [2, 2], [2, 4], [4, 4], num_classes=3, **options if second else {}
    )
    network(torch.randn(2, 3, 30, 37)).sum().backward()
    assert all(p.grad is not None for p in network.parameters())


def test_names_of_models():
    assert models.get_model_builder("ResNet18") is models.resnet18
    assert models.list_models(include="*raft*") == ["raft_large", "raft_small"]
    videos = "mc3_18 mvit_v1_b mvit_v2_s r2plus1d_18 r3d_18 s3d swin3d_b swin3d_s swin3d_t"
    assert models.list_models(models.video) == videos.split()
    images = models.list_models(models, exclude=["*b*", "*n*"])
    assert images == "maxvit_t vgg11 vgg13 vgg16 vgg19 vit_h_14 vit_l_16 vit_l_32".split()
    for wrong, words in (("nope", "Unknown model nope"), ("quantized_resnet18", "no quantized")):
        with pytest.raises(ValueError, match=words):
            models.get_model_builder(wrong)
    with pytest.raises(ValueError, match="Unknown model nope"):
        models.get_model_weights("nope")


def test_a_model_of_a_program():
    @models.register_model("tests_own")
    def own(width=2):
        return torch.nn.Linear(width, width)

    try:
        assert models.get_model("Tests_Own", width=3).in_features == 3
        assert "tests_own" in models.list_models()
        with pytest.raises(ValueError, match="already registered under the name 'tests_own'"):
            models.register_model("tests_own")(own)
        with pytest.raises(ValueError, match="WeightsEnum of this method cannot be retrieved"):
            models.get_model_weights("tests_own")
    finally:
        del models._api._registered["tests_own"]


def test_quantized_models_say_that_they_are_not_there():
    with pytest.raises(NotImplementedError, match="there are no quantized tensors"):
        models.quantization.resnet18(weights="DEFAULT")
    with pytest.raises(NotImplementedError, match="there are no quantized tensors"):
        models.quantization.QuantizableResNet()


def test_convolutions_before_a_vision_transformer():
    from rushlight.vision.models.vision_transformer import ConvStemConfig, VisionTransformer

    stem = [ConvStemConfig(4, 3, 2), ConvStemConfig(6, 3, 2, activation_layer=torch.nn.SiLU)]
    net = VisionTransformer(16, 4, 1, 2, 8, 16, num_classes=5, representation_size=7,
                            conv_stem_configs=stem)  # fmt: skip
    assert list(net.conv_proj._modules) == ["conv_bn_relu_0", "conv_bn_relu_1", "conv_last"]
    assert isinstance(net.conv_proj[1][2], torch.nn.SiLU)
    assert list(net.heads._modules) == ["pre_logits", "act", "head"]
    assert net.heads.head.in_features == 7
    assert net(torch.rand(2, 3, 16, 16)).shape == (2, 5)


def test_convolutions_of_resnet():
    made = models.resnet.conv3x3(4, 8, 2, groups=2, dilation=3)
    assert repr(made) == (
        "Conv2d(4, 8, kernel_size=(3, 3), stride=(2, 2), padding=(3, 3), dilation=(3, 3), "
        "groups=2, bias=False)"
    )
    made = models.resnet.conv1x1(in_planes=4, out_planes=8)
    assert repr(made) == "Conv2d(4, 8, kernel_size=(1, 1), stride=(1, 1), bias=False)"
