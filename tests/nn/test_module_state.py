"""What loading and converting a module leave behind: no cycles, and versions that say it."""

import gc

import pytest

import rushlight as torch
from rushlight import nn


def test_a_loaded_state_leaves_no_cycle(device):
    net, state = nn.LSTM(2, 2, device=device), nn.LSTM(2, 2).state_dict()
    gc.collect()
    net.load_state_dict(state)
    assert gc.collect() == 0


def test_what_is_applied_writes_to_the_parameter_itself(device):
    layer = nn.Linear(2, 1, device=device)
    product = (layer.weight * layer.weight).sum()
    layer(torch.ones(1, 2, device=device)).backward()
    before = layer.weight._version, layer.weight.grad._version
    layer._apply(lambda t: t.add_(1.0))
    assert (layer.weight._version, layer.weight.grad._version) == (before[0] + 1, before[1] + 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
    kinds = []
    layer._apply(lambda t: kinds.append(type(t)) or t)
    assert kinds[0] is nn.Parameter and layer.weight.requires_grad


def test_a_state_without_data_changes_nothing(device):
    layer = nn.Linear(2, 2, device=device)
    before = layer.weight.tolist()
    state = {"weight": torch.ones(2, 2), "bias": torch.ones(2, device="meta")}
    with pytest.raises(RuntimeError, match='copying the parameter named "bias"'):
        layer.load_state_dict(state)
    assert layer.weight.tolist() == before
