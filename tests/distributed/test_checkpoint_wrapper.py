"""Layers whose activations are computed again: names, states and gradients as PyTorch's."""

import importlib

import pytest

import rushlight
from tests.conftest import ask

PATH = ".distributed.algorithms._checkpoint.checkpoint_wrapper"


def parts(torch):
    module = importlib.import_module(torch.__name__ + PATH)
    layers = [torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(3, 2))]
    model = torch.nn.Sequential(*layers)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_((torch.arange(p.numel()) * 0.7).sin().reshape(p.shape))
    return module, model


def trained(torch, model, x):
    y = model(x)
    (y * y).sum().backward()
    return y.tolist(), [p.grad.tolist() for p in model.parameters()]


def test_the_same_as_torch():
    def run(torch):
        module, model = parts(torch)
        found = []
        x = torch.tensor([[0.5, -1.0]], requires_grad=True)
        for impl in module.CheckpointImpl:
            model.zero_grad()
            wrapper = module.checkpoint_wrapper(model, impl)
            found += [trained(torch, wrapper, x), [n for n, _ in wrapper.named_parameters()]]
            found += [list(wrapper.state_dict()), list(wrapper.state_dict(prefix="a."))]
            found += [str(wrapper.load_state_dict(model.state_dict())), repr(wrapper[0])]
            found += [wrapper(input=x).tolist()]
        model.zero_grad()
        found += [trained(torch, module.offload_wrapper(model), x), x.grad.tolist()]
        module.apply_activation_checkpointing(
            model, check_fn=lambda m: isinstance(m, torch.nn.Linear)
        )
        model.zero_grad()
        found += [repr(model), list(model.state_dict()), [n for n, _ in model.named_parameters()]]
        return [*found, trained(torch, model, x)]

    def rounded(value):
        if isinstance(value, float):
            return pytest.approx(value, abs=1e-6)
        return [rounded(v) for v in value] if isinstance(value, list | tuple) else value

    def as_lists(value):
        return [as_lists(v) for v in value] if isinstance(value, list | tuple) else value

    assert as_lists(run(rushlight)) == rounded(ask(run))


def test_functions_of_ones_own():
    module, model = parts(rushlight)
    seen = []

    def run(function, *args, word):
        seen.append(word)
        return function(*args)

    wrapper = module.checkpoint_wrapper(model, checkpoint_fn=run, word="mine")
    wrapper(rushlight.ones(1, 2))
    assert seen == ["mine"]
    with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'nothing'"):
        wrapper.nothing
    with pytest.raises(TypeError, match="abstract"):
        module.ActivationWrapper(model)
