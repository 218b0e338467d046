"""torchvision's create_feature_extractor and get_graph_node_names."""

import copy

import pytest

import rushlight as torch
from rushlight.vision import models
from rushlight.vision.models.feature_extraction import (
    create_feature_extractor,
    get_graph_node_names,
)

# How many nodes torchvision 0.28 finds, in training and in evaluation.
COUNTS = {
    "alexnet": (23, 23),
    "resnet18": (70, 70),
    "mobilenet_v2": (84, 84),
    "squeezenet1_0": (67, 67),
    "densenet121": (432, 432),
    "efficientnet_b0": (88, 88),
    "vit_b_32": (187, 187),
}
RESNET = (
    "x conv1 bn1 relu maxpool layer1.0.conv1 layer1.0.bn1 layer1.0.relu layer1.0.conv2 "
    "layer1.0.bn2 layer1.0.add layer1.0.relu_1 layer1.1.conv1"
)


@pytest.mark.parametrize("name", COUNTS)
def test_names(name):
    model = models.get_model(name)
    train, evaluation = get_graph_node_names(model, suppress_diff_warning=True)
    assert (len(train), len(evaluation)) == COUNTS[name]
    assert model.training and len(set(train)) == len(train)
    if name == "resnet18":
        assert train[:13] == RESNET.split() and train[-3:] == ["avgpool", "flatten", "fc"]


def test_values_from_inside():
    model = models.resnet18(num_classes=3).eval()
    wanted = {"layer1": "early", "layer4.1.relu_1": "late", "flatten": "flat", "fc": "logits"}
    extract = create_feature_extractor(model, wanted)
    x = torch.randn(1, 3, 64, 64)
    found = extract(x)
    assert list(found) == list(wanted.values()) and not extract.training
    assert torch.equal(found["logits"], model(x))
    assert torch.equal(found["flat"], found["late"].mean((2, 3)))
    stem = model.maxpool(model.relu(model.bn1(model.conv1(x))))
    assert torch.equal(found["early"], model.layer1(stem))
    assert extract.conv1 is model.conv1
    short = create_feature_extractor(model, ["layer1.0.relu"])
    assert list(short(x)) == ["layer1.0.relu"]
    assert not hasattr(short, "fc") and set(short.state_dict()) < set(model.state_dict())


class Dropped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)

    def forward(self, x):
        x = self.fc(x)
        return x.relu() if self.training else x.exp()


def test_modes():
    model = Dropped()
    with pytest.warns(UserWarning, match="different to those obtained in eval mode"):
        assert get_graph_node_names(model) == (["x", "fc", "relu"], ["x", "fc", "exp"])
    extract = create_feature_extractor(
        model, train_return_nodes={"relu": "out"}, eval_return_nodes={"exp": "out"}
    )
    x = torch.ones(1, 2)
    for each in (extract, copy.deepcopy(extract)):
        for _ in range(2):
            assert torch.equal(each.train()(x)["out"], model.fc(x).relu())
            assert torch.equal(each.eval()(x)["out"], model.fc(x).exp())


def test_choices_of_nodes():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    with pytest.raises(ValueError, match="Either `return_nodes` or"):
        create_feature_extractor(model)
    with pytest.raises(ValueError, match="then both should be specified"):
        create_feature_extractor(model, train_return_nodes=["0"])
    with pytest.raises(ValueError, match="then both should be specified"):
        create_feature_extractor(model, ["0"], ["0"], ["0"])
    with pytest.raises(ValueError, match="node: 'nope' is not present in model"):
        create_feature_extractor(model, ["nope"])
    leaf = {"tracer_kwargs": {"leaf_modules": [torch.nn.Sequential]}}
    nested = torch.nn.Sequential(model)
    assert get_graph_node_names(nested, **leaf)[0] == ["input", "0"]
    assert get_graph_node_names(nested)[0] == ["input", "0.0", "0.1"]


def test_a_feature_extractor_trains():
    model = models.mobilenet_v2(num_classes=2)
    extract = create_feature_extractor(model, {"features.3": "out"})
    extract(torch.randn(2, 3, 32, 32))["out"].sum().backward()
    first = model.features[0][0].weight
    assert first.grad is not None and first.grad.abs().sum() > 0
    assert model.classifier[1].weight.grad is None
