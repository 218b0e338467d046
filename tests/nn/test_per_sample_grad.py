"""call_for_per_sample_grads: the gradients of each sample, against torch's and one sample alone."""

import copy
import importlib

import pytest

import rushlight
from tests.conftest import ask

nn = rushlight.nn
assert_close = rushlight.testing.assert_close
LAYERS = {
    "linear": "nn.Linear(3, 2), T.randn(4, 3)",
    "linear of rows": "nn.Linear(3, 2), T.randn(4, 5, 2, 3)",
    "no bias": "nn.Linear(3, 2, bias=False), T.randn(4, 3)",
    "conv1d": "nn.Conv1d(4, 6, 2, stride=2, dilation=2, groups=2), T.randn(3, 4, 9)",
    "conv2d": "nn.Conv2d(2, 3, 3, padding=1), T.randn(3, 2, 5, 4)",
    "same": "nn.Conv2d(2, 3, (2, 3), padding='same', dilation=(1, 2)), T.randn(3, 2, 5, 6)",
    "valid": "nn.Conv3d(2, 3, 2, padding='valid'), T.randn(3, 2, 3, 4, 3)",
    "circular": "nn.Conv2d(2, 3, 3, padding=1, padding_mode='circular'), T.randn(3, 2, 5, 4)",
    "embedding": "nn.Embedding(7, 3), T.tensor([[1, 2, 1], [6, 6, 6]])",
    "padding": "nn.Embedding(7, 3, padding_idx=1), T.tensor([[1, 2, 1], [6, 0, 6]])",
    "layer norm": "nn.LayerNorm((2, 3)), T.randn(4, 5, 2, 3)",
    "group norm": "nn.GroupNorm(2, 4), T.randn(3, 4, 5)",
    "instance norm": "nn.InstanceNorm2d(3, affine=True), T.randn(2, 3, 4, 5)",
    "rnn": "nn.RNN(3, 2, nonlinearity='relu'), T.randn(5, 4, 3)",
    "gru": "nn.GRU(3, 2, 2, bidirectional=True, batch_first=True), T.randn(4, 5, 3)",
    "network": "nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), "
    "nn.Linear(8, 4), nn.Tanh(), nn.LayerNorm(4), nn.Linear(4, 3)), T.randn(3, 1, 6, 6)",
}


def call(torch, module, inputs, **options):
    path = f"{torch.__name__}.nn.utils._per_sample_grad"
    result = importlib.import_module(path).call_for_per_sample_grads(module, **options)(inputs)
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_against_torch(device, name, reduction):
    def found(torch):
        torch.manual_seed(0)
        module, inputs = eval(LAYERS[name], {"nn": torch.nn, "T": torch})
        if torch is rushlight:
            module, inputs = module.to(device), inputs.to(device)
        options = {"loss_reduction": reduction, "batch_first": name != "rnn"}
        loss = call(torch, module, inputs, **options).square()
        (loss.sum() if reduction == "sum" else loss.mean()).backward()
        assert all(p.grad is None for p in module.parameters())
        return [p.grad_sample.detach().cpu().numpy() for p in module.parameters()]

    for ours, theirs in zip(found(rushlight), ask(found), strict=True):
        assert_close(rushlight.from_numpy(ours), rushlight.from_numpy(theirs), rtol=1e-4, atol=1e-5)


RECURRENT = [
    nn.LSTM(3, 4, batch_first=True), nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2),
    nn.RNN(3, 2), nn.GRU(3, 2, bias=False),
]  # fmt: skip


@pytest.mark.parametrize("layer", RECURRENT, ids=str)
@pytest.mark.parametrize("packed", [False, True])
def test_recurrent_layers_against_one_sample_alone(device, layer, packed):
    torch, layer = rushlight, copy.deepcopy(layer).to(device)
    lengths = [4, 2, 1]
    samples = [torch.randn(n if packed else 4, 3, device=device) for n in lengths]
    if packed:
        inputs = torch.nn.utils.rnn.pack_sequence(samples)
    else:
        inputs = torch.stack(samples, 0 if layer.batch_first else 1)
    from rushlight.nn.utils._per_sample_grad import call_for_per_sample_grads

    out = call_for_per_sample_grads(layer, batch_size=3)(inputs)[0]
    (out.data if packed else out).square().sum().backward()
    for i, sample in enumerate(samples):
        layer.zero_grad()
        layer(sample)[0].square().sum().backward()
        for p in layer.parameters():
            assert_close(p.grad_sample[i], p.grad, rtol=1e-4, atol=1e-5)


def test_the_inputs_gradient_and_twice_in_a_module(on_device):
    torch = rushlight

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(self.layer(x).tanh())

    module, x = Twice(), torch.randn(4, 3, requires_grad=True)
    call(torch, module, x).sum().backward()
    mine, x.grad = x.grad, None
    module(x).sum().backward()
    assert_close(mine, x.grad)
    for p in module.parameters():
        assert_close(p.grad_sample.sum(0), p.grad)


def test_frozen_parameters_have_none(on_device):
    layer = nn.Linear(3, 2)
    layer.weight.requires_grad_(False)
    call(rushlight, layer, rushlight.ones(4, 3)).sum().backward()
    assert not hasattr(layer.weight, "grad_sample") and layer.bias.grad_sample.shape == (4, 2)


WRONG = [
    "call(T, 3, x)", "call(T, layer, x, batch_size='a')", "call(T, layer, x, batch_size=0)",
    "call(T, layer, x, loss_reduction='none')", "call(T, layer, x, batch_size=3)",
    "call(T, layer, T.ones(3))", "call(T, T.nn.BatchNorm1d(3), x)", "call(T, T.nn.PReLU(), x)",
    "call(T, T.nn.LayerNorm((4, 3)), x).sum().backward()", "call(T, layer, 3)",
    "(call(T, layer, x).sum().backward(), call(T, layer, x))",
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_refusals(wrong):
    def found(torch):
        names = {"T": torch, "layer": torch.nn.Linear(3, 2), "x": torch.ones(4, 3), "call": call}
        try:
            eval(wrong, names)
        except Exception as error:
            return type(error).__name__, str(error)[:40]
        return "none", ""

    assert found(rushlight) == tuple(ask(found))


def test_dropout_between_recurrent_layers_is_refused():
    with pytest.raises(RuntimeError, match="cannot handle the dropout"):
        call(rushlight, nn.LSTM(3, 2, 2, dropout=0.5), rushlight.ones(4, 2, 3), batch_size=2)
