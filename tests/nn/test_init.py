"""nn.init and nn.utils against torch: the same seed gives the same numbers."""

import numpy as np
import pytest

import rushlight as torch

from .compare import assert_same, both, message, random

FILLS = [
    "uniform_(t, -2.0, 3.0)",
    "normal_(t, 1.0, 0.5)",
    "trunc_normal_(t, 0.5, 2.0, -1.0, 1.5)",
    "trunc_normal_(t)",
    "trunc_normal_(t, 0.0, 1.0, 0.1, 0.4)",
    "constant_(t, 0.3)",
    "ones_(t)",
    "zeros_(t)",
    "xavier_uniform_(t, gain=2.0)",
    "xavier_normal_(t)",
    "kaiming_uniform_(t, a=1, mode='fan_out')",
    "kaiming_normal_(t, nonlinearity='relu')",
    "orthogonal_(t, gain=0.5)",
    "sparse_(t, 0.3)",
    "eye_(t)",
]


def same_or_drawn(pair, device, text, rtol=1e-5):
    ours, theirs = pair
    if device == "cpu" or text.startswith(("constant_", "ones_", "zeros_", "eye_", "dirac_")):
        assert_same(ours, theirs, rtol)
        return
    # A GPU has a stream of its own: numbers of the same size, whose mean square tells it.
    assert str(ours.device) == device and tuple(ours.shape) == tuple(theirs.shape)
    assert ours.isfinite().all() and 0.3 < ours.norm().item() / theirs.norm().item() < 3


@pytest.mark.parametrize("text", FILLS)
@pytest.mark.parametrize("shape", [(3, 5), (17, 4)])
def test_fill(pair, device, text, shape):
    def fill(library):
        t = library.empty(*shape).to(device if library is torch else "cpu")
        result = eval("init." + text, {"init": library.nn.init, "t": t})
        assert result is t
        return t

    same_or_drawn(pair(fill), device, text)


@pytest.mark.parametrize("shape", [(4, 2, 3), (4, 4, 3, 3), (3, 4, 1, 2, 3)])
@pytest.mark.parametrize("text", ["dirac_(t)", "kaiming_uniform_(t)", "orthogonal_(t)"])
def test_kernels(pair, device, text, shape):
    def fill(library):
        t = library.empty(*shape).to(device if library is torch else "cpu")
        return eval("init." + text, {"init": library.nn.init, "t": t})

    same_or_drawn(pair(fill), device, text, 1e-4)


def test_groups(pair, on_device):
    ours, theirs = pair(lambda library: library.nn.init.dirac_(library.empty(4, 2, 3), groups=2))
    assert_same(ours, theirs)


def test_gains(reference):
    for name, param in [
        ("linear", None), ("conv2d", None), ("sigmoid", None), ("tanh", None), ("relu", None),
        ("leaky_relu", None), ("leaky_relu", 0.3), ("selu", None),
    ]:  # fmt: skip
        mine = torch.nn.init.calculate_gain(name, param)
        assert mine == reference.nn.init.calculate_gain(name, param)


WRONG = [
    "init.calculate_gain('nonsense')",
    "init.calculate_gain('leaky_relu', 'a')",
    "init.eye_(torch.empty(3))",
    "init.dirac_(torch.empty(3, 3))",
    "init.dirac_(torch.empty(3, 3, 3), groups=2)",
    "init.xavier_uniform_(torch.empty(3))",
    "init.kaiming_uniform_(torch.empty(3, 3), mode='x')",
    "init.orthogonal_(torch.empty(3))",
    "init.sparse_(torch.empty(3), 0.1)",
]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_call(reference, text):
    ours, theirs = (
        message(lambda lib=lib: eval(text, {"torch": lib, "init": lib.nn.init}))
        for lib in (torch, reference)
    )
    assert ours == theirs


def test_old_names(on_device):
    with pytest.warns(FutureWarning, match=r"`nn\.init\.constant` is now deprecated"):
        assert torch.nn.init.constant(torch.empty(1), 2.0).item() == 2


def test_no_history(on_device):
    w = torch.nn.Parameter(torch.empty(3, 3))
    for name in ("uniform_", "normal_", "xavier_normal_", "zeros_", "orthogonal_"):
        getattr(torch.nn.init, name)(w)
        assert w.is_leaf and w.grad_fn is None


@pytest.mark.parametrize("norm_type", [1.0, 2.0, float("inf")])
def test_clip_grad_norm(reference, device, norm_type):
    results = []
    for library, which in ((torch, 0), (reference, 1)):
        where = device if library is torch else "cpu"
        params = [library.nn.Parameter(library.zeros(*s, device=where)) for s in ((2, 3), (4,))]
        for i, p in enumerate(params):
            p.grad = both(torch, reference, random(*p.shape, seed=i), device=device)[which]
        total = library.nn.utils.clip_grad_norm_(iter(params), 0.7, norm_type)
        results.append([total, *(p.grad for p in params)])
    assert_same(*results)


def test_clip_others(reference, on_device):
    results = []
    for library, which in ((torch, 0), (reference, 1)):
        p = library.nn.Parameter(library.zeros(5))
        p.grad = both(torch, reference, random(5), device=on_device)[which]
        library.nn.utils.clip_grad_value_([p], 0.3)
        vector = library.nn.utils.parameters_to_vector([p.grad, library.ones(2, 2)])
        library.nn.utils.vector_to_parameters(vector[:5], [p])
        results.append([p.grad, vector, p.data])
    assert_same(*results)
    p = torch.nn.Parameter(torch.zeros(1))
    p.grad = torch.tensor([float("nan")])
    with pytest.raises(RuntimeError, match=r"The total norm of order 2\.0 for gradients"):
        torch.nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    assert torch.nn.utils.clip_grad_norm_([], 1.0).item() == 0


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("side", ["left", "right"])
def test_pad_sequence(reference, device, batch_first, side):
    arrays = [random(n, 2, seed=n) for n in (3, 1, 2)]
    pairs = [both(torch, reference, a, device=device) for a in arrays]
    padded = [
        library.nn.utils.rnn.pad_sequence([p[i] for p in pairs], batch_first, -1.0, side)
        for i, library in enumerate((torch, reference))
    ]
    assert_same(*padded)
    back = torch.nn.utils.rnn.pad_sequence([p[0] for p in pairs], batch_first)
    parts = torch.nn.utils.rnn.unpad_sequence(back, torch.tensor([3, 1, 2]), batch_first)
    for part, array in zip(parts, arrays, strict=True):
        np.testing.assert_array_equal(np.array(part.tolist(), dtype=np.float32), array)


def test_truncated_normal_weights_on_meta():
    with torch.device("meta"):
        weight = torch.nn.Linear(2, 3).weight
        real = torch.empty(50, device="cpu")
        assert torch.nn.init.trunc_normal_(real).abs().max() <= 2  # under another default device
    assert torch.nn.init.trunc_normal_(weight, std=0.02) is weight


@pytest.mark.parametrize("mean, std", [(1e6, 1.0), (-1e6, 1.0), (1e30, 1e18), (3e4, 2.0)])
def test_truncated_normal_far_out(mean, std):
    """Where no uniform draw is accepted, it ends nevertheless, with draws of the density."""
    torch.manual_seed(0)
    with pytest.warns(UserWarning, match="more than 2 std"):
        drawn = torch.nn.init.trunc_normal_(torch.empty(2000).double(), mean, std, -2.0, 2.0)
    assert drawn.min() >= -2 and drawn.max() <= 2
    scale = std**2 / abs(mean)  # from the nearer bound on it is exponential, cut at the other one
    wanted = scale if scale < 1 else 2.0
    assert (2 - drawn * (1 if mean > 0 else -1)).mean().item() == pytest.approx(wanted, rel=0.1)
