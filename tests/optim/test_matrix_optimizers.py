"""Muon and Adafactor, whose steps are made for matrices, against torch."""

import numpy as np
import pytest

import rushlight as torch
from tests.conftest import ask

SHAPES = [(6, 3), (3, 7)]
SETTINGS = {
    "Muon": {},
    "Muon as AdamW": {"lr": 0.1, "adjust_lr_fn": "match_rms_adamw", "weight_decay": 0.2},
    "Muon without Nesterov": {"lr": 0.1, "nesterov": False, "ns_steps": 3, "momentum": 0.5},
    "Adafactor": {},
    "Adafactor with decay": {"lr": 0.5, "weight_decay": 0.1, "d": 2.0, "maximize": True},
}


def draws(seed, shape):
    return np.random.RandomState(seed).standard_normal(shape).tolist()


@pytest.mark.parametrize("case", SETTINGS)
def test_four_steps(device, case):
    def run(library, device="cpu"):
        params = [
            library.nn.Parameter(library.tensor(draws(i, s), device=device))
            for i, s in enumerate(SHAPES)
        ]
        optimizer = getattr(library.optim, case.split()[0])(params, **SETTINGS[case])
        for step in range(4):
            for i, p in enumerate(params):
                p.grad = library.tensor(draws(10 * step + i + 2, SHAPES[i]), device=device)
            optimizer.step()
        values = [p.detach() for p in params]
        values += [v for p in params for v in optimizer.state[p].values()]
        return [v.cpu().flatten().tolist() for v in values]

    for ours, theirs in zip(run(torch, device), ask(run), strict=True):
        # Muon's products are bfloat16's: another order of a sum may round otherwise.
        near = {"rel": 1e-3, "abs": 1e-3} if "Muon" in case else {"rel": 1e-5, "abs": 1e-6}
        assert ours == pytest.approx(theirs, **near)


def test_a_state_comes_back():
    p = torch.nn.Parameter(torch.tensor(draws(0, (3, 2))))
    p.grad = torch.ones_like(p)
    for kind in (torch.optim.Muon, torch.optim.Adafactor):
        first = kind([p])
        first.step()
        second = kind([p], lr=0.5)
        second.load_state_dict(first.state_dict())
        assert second.param_groups[0]["lr"] == first.param_groups[0]["lr"]
        for name, value in first.state[p].items():
            assert second.state[p][name].tolist() == value.tolist()


@pytest.mark.parametrize(
    "kind, settings",
    [
        ("Muon", {"lr": -1.0}),
        ("Muon", {"momentum": -1.0}),
        ("Muon", {"adjust_lr_fn": "mine"}),
        ("Adafactor", {"beta2_decay": 0.5}),
        ("Adafactor", {"d": 0.5}),
        ("Adafactor", {"eps": (-1.0, 1e-3)}),
    ],
)
def test_settings_that_are_refused(kind, settings):
    def words(torch):
        try:
            getattr(torch.optim, kind)([torch.nn.Parameter(torch.ones(2, 2))], **settings)
        except ValueError as error:
            return str(error).splitlines()[0]

    assert words(torch) == ask(words)


def test_muon_refuses_vectors():
    with pytest.raises(ValueError, match=r"Muon only supports 2D parameters .*\[3\]"):
        torch.optim.Muon([torch.nn.Parameter(torch.ones(3))])
