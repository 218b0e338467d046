"""Softmax, losses and embedding against torch."""

import numpy as np
import pytest

import rushlight
from tests.compare import TOLERANCE, same_as_torch
from tests.ops.nn_compare import array, close, compare, functional


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_no_integers_is_empty(name, device):
    """torch asks for no kernel there; of any element it refuses them."""
    for dtype in (rushlight.int64, rushlight.bool):
        x = rushlight.ones(2, 0, dtype=dtype, device=device)
        out = getattr(rushlight, name)(x, 1)
        assert out.dtype == dtype and out.shape == (2, 0)
        with pytest.raises(NotImplementedError, match="not implemented for"):
            getattr(rushlight, name)(rushlight.ones(2, dtype=dtype, device=device), 0)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize(("shape", "dim"), [((3, 5), 1), ((3, 5), 0), ((2, 40, 3), 1), ((4,), 0)])
def test_softmax(reference, device, name, shape, dim):
    compare(reference, lambda t, x: getattr(t, name)(x, dim), [array(shape, 1, 3.0)], device)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_softmax_of_columns(reference, device, name, dtype):
    """Few columns go as rows, more side by side, in several blocks where the dimension is long."""
    for shape in [(2, 3, 6), (2, 3, 7), (3, 50, 16), (2, 9, 100)]:
        compare(
            reference, lambda t, x: getattr(t, name)(x, 1), [array(shape, 5, 3.0)], device, dtype,
            second=False,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("shape", [(1, 3000, 45), (1, 70000, 17)])
def test_softmax_of_long_columns(device, name, dtype, shape):
    x = rushlight.from_numpy(array(shape, 5, 3.0)).to(getattr(rushlight, dtype))
    given = x.double().numpy()
    shifted = given - given.max(1, keepdims=True)
    sums = np.exp(shifted).sum(1, keepdims=True)
    wanted = np.exp(shifted) / sums if name == "softmax" else shifted - np.log(sums)
    ours = getattr(x.to(device), name)(1)
    assert ours.dtype is x.dtype
    # A sum of 70000 floats in one column: torch's differs from this as much.
    rtol = 2e-4 if dtype == "float32" else 7 * TOLERANCE[dtype]
    same_as_torch(ours, rushlight.from_numpy(wanted).to(x.dtype), rtol)


@pytest.mark.parametrize("dim", [0, 1])
def test_softmax_of_extremes(reference, device, dim):
    """Infinities, NaN and exponents beyond the smallest number."""
    inf = float("inf")
    rows = [[0.0, -inf, 1.0], [-inf, -inf, -inf], [inf, 0.0, 1.0], [float("nan"), 0.0, 1.0],
            [0.0, -1000.0, -86.0], [3e38, -3e38, 0.0], [0.0] * 3, [1.0] * 3]  # fmt: skip
    for t_rows in (rows, [list(r) for r in zip(*rows, strict=True)]):
        ours = rushlight.tensor(t_rows, device=device).softmax(dim).cpu()
        theirs = reference.tensor(t_rows).softmax(dim)
        assert repr(ours) == repr(theirs)


REDUCTIONS = ["mean", "sum", "none"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(6, 5), (2, 5, 3)])
def test_cross_entropy(reference, device, reduction, smoothing, weighted, shape):
    target = (abs(array((shape[0], *shape[2:]), 7)) * 2 % 5).astype(int)
    target.flat[1] = -100
    weights = abs(array((5,), 8)) + 0.1

    def call(t, x):
        w = t.tensor(weights.tolist(), dtype=t.float64, device=x.device) if weighted else None
        return functional(t, "cross_entropy")(
            x, t.tensor(target.tolist(), device=x.device), w, reduction=reduction,
            label_smoothing=smoothing,
        )  # fmt: skip

    # torch adds nodes of its own for these
    node = False if smoothing or (reduction == "none" and len(shape) == 3) else None
    compare(reference, call, [array(shape, 1)], device, node=node)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_class_probabilities(reference, device, reduction):
    target = abs(array((6, 5), 7))

    def call(t, x):
        probabilities = t.tensor(target.tolist(), dtype=t.float64, device=x.device)
        return functional(t, "cross_entropy")(
            x, probabilities, reduction=reduction, label_smoothing=0.1
        )

    compare(reference, call, [array((6, 5), 1)], device, node=False)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_nll_loss(reference, device, reduction):
    def call(t, x):
        target = t.tensor([0, 4, -100, 2], device=x.device)
        return functional(t, "nll_loss")(x, target, reduction=reduction)

    compare(reference, call, [array((4, 5), 1)], device)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_differences(reference, device, name, reduction):
    compare(
        reference,
        lambda t, x, y: functional(t, name)(x, y, reduction=reduction),
        [array((4, 5), 1), array((4, 5), 2)],
        device,
        second=name != "l1_loss",  # torch's are tensors without storage
        node=None if name == "mse_loss" else False,
    )


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_binary_cross_entropy(reference, device, reduction):
    p, target = abs(array((4, 5), 1)) % 0.9 + 0.05, abs(array((4, 5), 2)) % 1
    compare(
        reference,
        lambda t, x, y: functional(t, "binary_cross_entropy")(x, y, reduction=reduction),
        [p, target],
        device,
    )
    compare(
        reference,
        lambda t, x, y: functional(t, "binary_cross_entropy_with_logits")(
            x, y, reduction=reduction, pos_weight=t.tensor([0.5, 1.0, 2.0, 3.0, 4.0]).to(x)
        ),
        [array((4, 5), 3), target],
        device,
        node=False,
    )


def test_embedding(reference, device):
    def call(t, weight):
        indices = t.tensor([[1, 0, 3], [3, 3, 2]], device=weight.device)
        ours = t is rushlight
        return t._C.embedding(weight, indices, 2) if ours else t.embedding(weight, indices, 2)

    compare(reference, call, [array((4, 3), 1)], device)


def test_one_hot(reference, device):
    for classes in (-1, 6):
        ours = rushlight._C._nn.one_hot(rushlight.tensor([1, 0, 4], device=device), classes)
        close(ours, reference.nn.functional.one_hot(reference.tensor([1, 0, 4]), classes))


WRONG = [
    lambda t, f: f("cross_entropy")(t.zeros(2, 3), t.tensor([0])),
    lambda t, f: f("cross_entropy")(t.zeros(2, 3), t.zeros(2)),
    lambda t, f: f("cross_entropy")(t.zeros(2, 3), t.tensor([[0], [1]])),
    lambda t, f: f("cross_entropy")(t.zeros(2, 3), t.tensor([0, 1]), t.zeros(2)),
    lambda t, f: f("cross_entropy")(t.zeros(2, 3, 4), t.tensor([0, 1])),
    lambda t, f: f("cross_entropy")(t.zeros(2, 3), t.tensor([0, 1]), reduction="foo"),
    lambda t, f: f("binary_cross_entropy")(t.zeros(2) + 2, t.zeros(2)),
    lambda t, f: t.softmax(t.zeros(2, 3), 2),
    lambda t, f: t.softmax(t.zeros(2, 3).long(), 0),
]
# A GPU says it when it is waited for, or in other words.
WRONG_VALUES = [
    lambda t, f: f("cross_entropy")(t.zeros(2, 3), t.tensor([0, 3])),
    lambda t, f: t.embedding(t.zeros(3, 2), t.tensor([3])),
    lambda t, f: f("one_hot")(t.tensor([3]), 2),
]


def says_what_torch_says(reference, call):
    with pytest.raises(Exception) as theirs:
        call(reference, lambda name: functional(reference, name))
    with pytest.raises(theirs.type) as ours:
        call(rushlight, lambda name: functional(rushlight, name))
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


@pytest.mark.parametrize("call", WRONG, ids=range(len(WRONG)))
def test_wrong_calls_say_what_torch_says(reference, call, on_device):
    says_what_torch_says(reference, call)


@pytest.mark.parametrize("call", WRONG_VALUES, ids=range(len(WRONG_VALUES)))
def test_wrong_values_say_what_torch_says(reference, call):
    says_what_torch_says(reference, call)


def test_multilabel_margin_looks_at_every_class():
    """Torch refuses those behind the first -1 too."""
    x = rushlight.ones(2, 3)
    for row in ([0, -7, -1], [0, -1, -5], [0, -1, 7]):
        target = rushlight.tensor([row, [1, 2, -1]])
        with pytest.raises(RuntimeError, match="out of bounds"):
            rushlight.nn.functional.multilabel_margin_loss(x, target)
