"""ctc_loss against a sum over all paths, finite differences and torch."""

import itertools
import math

import pytest

import rushlight as torch
from rushlight.autograd import gradcheck

F = torch.nn.functional


def spelled(path, blank):
    """The labels of a path: repeats first, then blanks are removed."""
    return [c for c, _ in itertools.groupby(path) if c != blank]


def loss_by_enumeration(log_probs, target, blank):
    """One example, log_probs (t, c) as lists: over all c^t paths."""
    total = sum(
        math.exp(sum(row[c] for row, c in zip(log_probs, path, strict=True)))
        for path in itertools.product(range(len(log_probs[0])), repeat=len(log_probs))
        if spelled(path, blank) == target
    )
    return -math.log(total) if total else math.inf


def probabilities(steps, batch, classes, device, dtype=torch.float64):
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(steps, batch, classes, generator=generator, dtype=dtype)
    return x.log_softmax(2).to(device)


TARGETS = [[], [1], [1, 2], [1, 1], [2, 1, 2], [1, 1, 1], [2, 2, 1, 1]]


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("form", ["padded", "concatenated"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_all_paths(blank, form, dtype, device):
    """Inputs of 5 to 3 steps and 3 classes; some targets cannot be spelled."""
    targets = [[0 if c == blank else c for c in t] for t in TARGETS]
    lengths = [5 - i % 3 for i in range(len(targets))]
    log_probs = probabilities(5, len(targets), 3, device, dtype)
    if form == "padded":  # what is behind the end is not read
        given = torch.tensor([t + [99] * (4 - len(t)) for t in targets])
    else:
        given = torch.tensor([c for t in targets for c in t])
    loss = F.ctc_loss(
        log_probs, given.to(device), lengths, [len(t) for t in targets], blank, "none"
    )
    rows = log_probs.cpu().transpose(0, 1).tolist()
    expected = [
        loss_by_enumeration(r[:n], t, blank) for r, n, t in zip(rows, lengths, targets, strict=True)
    ]
    assert math.inf in expected
    torch.testing.assert_close(loss.cpu(), torch.tensor(expected, dtype=dtype))


def arguments(device):
    targets = torch.tensor([[1, 2, 2], [3, 3, 0], [1, 0, 0]]).to(device)
    return targets, (6, 5, 2), (3, 2, 1)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_gradients(reduction, device):
    x = torch.randn(6, 3, 4, dtype=torch.float64, device=device, requires_grad=True)
    assert gradcheck(lambda x: F.ctc_loss(x.log_softmax(2), *arguments(device), 0, reduction), (x,))


def test_second_gradients_are_refused(device):
    x = torch.randn(6, 3, 4, device=device, requires_grad=True)
    loss = F.ctc_loss(x.log_softmax(2), *arguments(device))
    (grad,) = torch.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(RuntimeError, match="_ctc_loss_backward is not implemented"):
        grad.sum().backward()


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_impossible_targets(zero_infinity, device):
    x = probabilities(4, 2, 3, device).requires_grad_()
    targets = torch.tensor([[1, 1, 1], [1, 2, 1]]).to(device)
    loss = F.ctc_loss(x, targets, (4, 4), (3, 3), 0, "none", zero_infinity)
    loss.sum().backward()
    assert loss[0].item() == (0 if zero_infinity else math.inf)
    assert loss[1].isfinite()
    if zero_infinity:
        assert not x.grad[:, 0].any()
    else:
        assert x.grad[:, 0].isnan().all()
    assert x.grad[:, 1].isfinite().all()


def test_nothing_behind_the_end_of_an_input(device):
    x = probabilities(5, 2, 3, device).requires_grad_()
    F.ctc_loss(x, torch.tensor([[1], [2]]).to(device), (5, 2), (1, 1)).backward()
    assert not x.grad[2:, 1].any()
    assert x.grad[2:, 0].all()


def test_probabilities_of_zero(device):
    """A label that no step may emit: no NaN where a way remains."""
    x = probabilities(3, 1, 3, device)
    x[0, 0, 1] = x[2, 0, 0] = -math.inf
    x.requires_grad_()
    loss = F.ctc_loss(x, torch.tensor([[1]]).to(device), (3,), (1,), reduction="sum")
    rows = x.detach().cpu()[:, 0].tolist()
    torch.testing.assert_close(loss.item(), loss_by_enumeration(rows, [1], 0))
    loss.backward()
    assert x.grad.isfinite().all()


def test_a_loss_written_to_is_noticed(device):
    x = probabilities(3, 1, 3, device).requires_grad_()
    loss = F.ctc_loss(x, torch.tensor([[1]]).to(device), (3,), (1,), reduction="none")
    loss.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.sum().backward()


def test_forms_of_the_arguments(device):
    x = probabilities(5, 2, 4, device)
    targets = torch.tensor([[1, 2], [3, 0]]).to(device)
    loss = F.ctc_loss(x, targets, (5, 4), (2, 1))
    for lengths in (
        ([5, 4], [2, 1]),
        (torch.tensor([5, 4]), torch.tensor([2, 1])),
        (torch.tensor([[5, 4]], dtype=torch.int16), torch.tensor([2, 1], device=device)),
    ):
        torch.testing.assert_close(F.ctc_loss(x, targets, *lengths), loss)
    for dtype in (torch.int32, torch.int16):
        torch.testing.assert_close(F.ctc_loss(x, targets.to(dtype), (5, 4), (2, 1)), loss)
    strided = x.transpose(0, 1).contiguous().transpose(0, 1)
    torch.testing.assert_close(F.ctc_loss(strided, targets, (5, 4), (2, 1)), loss)
    torch.testing.assert_close(torch.ctc_loss(x, targets, (5, 4), (2, 1), 0, 1, False), loss)
    alone = F.ctc_loss(x[:, 0], targets[0], (5,), (2,), reduction="none")
    assert alone.shape == ()
    torch.testing.assert_close(alone, F.ctc_loss(x, targets, (5, 4), (2, 1), 0, "none")[0])


def test_a_label_that_is_no_class(device):
    x = probabilities(5, 1, 4, device)
    for label in (4, -1, 2**40):
        with pytest.raises(IndexError):
            F.ctc_loss(x, torch.tensor([[1, label]]).to(device), (5,), (2,)).item()


REFUSED = [
    ({"input_lengths": (5,)}, "input_lengths must be of size batch_size"),
    ({"target_lengths": (3,)}, "target_lengths must be of size batch_size"),
    ({"input_lengths": (5, 6)}, "Expected input_lengths to have value at most 5, but got value 6"),
    ({"input_lengths": (5, -1)}, "Expected input_lengths to have value at least 0"),
    ({"target_lengths": (3, -1)}, "Expected target_lengths to have value at least 0"),
    ({"target_lengths": (3, 4)}, "size at least 4 at dimension 1, but got size 3"),
    ({"target_lengths": (2**62, 2**62)}, "overflow"),
    ({"target_lengths": (2**62, 1)}, "size at least"),
    ({"blank": 4}, "blank must be in label range"),
    ({"blank": -1}, "blank must be in label range"),
    ({"targets": torch.tensor([1, 2, 3, 1])}, "size 5 at dimension 0, but got size 4"),
    ({"targets": torch.tensor([[1, 2, 3]])}, "size 2 at dimension 0, but got size 1"),
    ({"targets": torch.ones(1, 2, 3).long()}, "Expected 1 to 2 dimensions, but got 3-dimensional"),
    ({"targets": torch.tensor(1)}, "Expected 1 to 2 dimensions, but got 0-dimensional"),
    ({"log_probs": torch.zeros(0, 2, 4)}, "log_probs tensor must not be empty"),
    ({"log_probs": torch.zeros(4)}, "Expected 3-dimensional tensor, but got 2-dimensional"),
    (
        {"log_probs": torch.zeros(5, 2, 4).half()},
        "ctc_loss_(cpu|cuda).* not implemented for 'Half'",
    ),
    (
        {"log_probs": torch.zeros(5, 2, 4).long()},
        "ctc_loss_(cpu|cuda).* not implemented for 'Long'",
    ),
    ({"reduction": "all"}, "all is not a valid value for reduction"),
]


def on(device, arguments):
    return {k: v.to(device) if torch.is_tensor(v) else v for k, v in arguments.items()}


@pytest.mark.parametrize(("change", "words"), REFUSED)
def test_refusals(change, words, device):
    arguments = {
        "log_probs": torch.zeros(5, 2, 4), "targets": torch.tensor([[1, 2, 3], [1, 1, 2]]),
        "input_lengths": (5, 5), "target_lengths": (3, 2),
    }  # fmt: skip
    F.ctc_loss(**on(device, arguments))
    with pytest.raises((RuntimeError, ValueError, NotImplementedError), match=words):
        F.ctc_loss(**on(device, arguments | change))


def test_lengths_of_two_kinds_are_refused(on_device):
    x, targets = torch.zeros(5, 1, 3), torch.tensor([[1]])
    with pytest.raises(TypeError, match="ctc_loss"):
        F.ctc_loss(x, targets, torch.tensor([5]), (1,))
    with pytest.raises(RuntimeError, match="input_lengths must be integral"):
        F.ctc_loss(x, targets, torch.tensor([5.0]), torch.tensor([1]))
    with pytest.raises(RuntimeError, match="reduction is 0"):
        torch.ctc_loss(x, targets, (5,), (1,), 0, 3)


def test_as_torch(reference, device):
    """Values and gradients, the gradient of the log-probabilities themselves too."""
    for dtype in ("float32", "float64"):
        losses = []
        for library in (torch, reference):
            library.manual_seed(0)
            where = device if library is torch else "cpu"
            x = library.randn(30, 4, 20, dtype=getattr(library, dtype)).log_softmax(2).to(where)
            x.requires_grad_()
            labels = [[(i * j) % 19 + 1 for j in range(1, 9)] for i in range(1, 5)]
            targets = library.tensor(labels, device=where)
            loss = library.nn.functional.ctc_loss(x, targets, (30, 29, 12, 8), (8, 5, 0, 1))
            loss.backward()
            losses.append((loss.item(), x.grad.tolist()))
        (a, of_a), (b, of_b) = losses
        assert abs(a - b) < 1e-4
        torch.testing.assert_close(torch.tensor(of_a), torch.tensor(of_b), rtol=1e-3, atol=1e-5)
