"""utils.flop_counter: operations counted from shapes, by module, forward and backward, as torch."""

import pytest

import rushlight
from rushlight.utils.flop_counter import FlopCounterMode, register_flop_formula
from tests.conftest import ask


def counts(torch, run):
    import importlib

    module = importlib.import_module(f"{torch.__name__}.utils.flop_counter")
    with module.FlopCounterMode(display=False) as counter:
        run(torch)
    found = counter.get_flop_counts()
    return {name: {str(op): n for op, n in ops.items()} for name, ops in sorted(found.items())}


def image(torch, grad=False):
    return torch.ones(2, 3, 8, 8, requires_grad=grad)


def network(torch, grad):
    layers = torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 5)
    torch.nn.Sequential(*layers)(image(torch, grad)).sum().backward()


def encoder(torch):
    torch.nn.TransformerEncoderLayer(8, 2, 16)(torch.ones(5, 3, 8)).sum().backward()


def two_inputs(torch):
    query, key = torch.ones(5, 3, 8), torch.ones(6, 3, 8)
    torch.nn.MultiheadAttention(8, 2)(query, key, key)[0].sum().backward()


def attention(torch):
    x = image(torch, True)
    torch.nn.functional.scaled_dot_product_attention(x, x, x).sum().backward()


RUNS = {
    "network": lambda torch: network(torch, False),
    "network and its input": lambda torch: network(torch, True),
    "transposed": lambda torch: torch.nn.ConvTranspose1d(4, 6, 3, stride=2)(torch.ones(2, 4, 9)),
    "groups": lambda torch: torch.nn.Conv2d(4, 6, 3, groups=2)(torch.ones(4, 9, 9)),
    "attention": attention,
    "encoder": encoder,
    "multi-head": two_inputs,
    "batched": lambda torch: (image(torch, True) @ image(torch)).sum().backward(),
    "folded": lambda torch: image(torch) @ torch.ones(8, 4),
    "vector": lambda torch: torch.ones(3, 4) @ torch.ones(4),
    "einsum": lambda torch: torch.einsum("bchw,bcxw->bhx", image(torch), image(torch)),
    "no bias": lambda torch: torch.nn.Linear(4, 3, bias=False)(torch.ones(2, 3, 4)),
}


@pytest.mark.parametrize("name", RUNS)
def test_as_torch(name):
    found = counts(rushlight, RUNS[name])
    assert found == ask(lambda torch: counts(torch, RUNS[name]))


def test_table_and_what_stays(capsys):
    model = rushlight.nn.Sequential(rushlight.nn.Linear(8, 4), rushlight.nn.ReLU())
    with FlopCounterMode() as counter:
        loss = model(rushlight.ones(3, 8)).sum()
    loss.backward()  # is not counted any more
    assert counter.get_total_flops() == 192
    shown = capsys.readouterr().out.splitlines()
    assert [line.split() for line in shown[:1] + shown[2:4]] == [
        ["Module", "FLOP", "%", "Total"],
        ["Sequential", "192.000", "100.00%"],
        ["-", "aten.addmm", "192.000", "100.00%"],
    ]
    assert not rushlight.nn.modules.module._global_forward_hooks


def test_formulas_of_users_are_refused():
    with pytest.raises(NotImplementedError, match="sees calls of torch's functions"):
        register_flop_formula(rushlight.ops.aten.mm)
    with pytest.raises(NotImplementedError):
        FlopCounterMode(custom_mapping={rushlight.ops.aten.mm: lambda *a, **k: 1})
