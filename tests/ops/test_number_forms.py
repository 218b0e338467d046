"""torch's functions of the same names as those of nn.functional, in which numbers say what words
say there, against torch and against the words."""

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from tests.compare import same_as_torch

CALLS = [
    *(
        call
        for n in (0, 1, 2)
        for call in (
            f"T.kl_div(x, y, {n})", f"T.kl_div(x, y, {n}, log_target=True)",
            f"T.poisson_nll_loss(x, y, True, False, 1e-8, {n})",
            f"T.poisson_nll_loss(x, y, False, True, 1e-8, reduction={n})",
            f"T.hinge_embedding_loss(x, T.sign(x - 0.5), 0.7, {n})",
            f"T.margin_ranking_loss(x, y, T.sign(x - 0.5), 0.1, {n})",
            f"T.cosine_embedding_loss(x, y, T.sign(x[:, 0] - 0.5), 0.1, {n})",
            f"T.triplet_margin_loss(x, y, y.flip(0), 0.4, 2, 1e-6, True, {n})",
            f"T.binary_cross_entropy_with_logits(x, y, y, y[0], {n})",
        )
    ),
    "T.kl_div(x, y)", "T.hinge_embedding_loss(x, T.sign(x - 0.5))",
    "T.margin_ranking_loss(x, y, T.sign(x - 0.5))", "T.triplet_margin_loss(x, y, y.flip(0))",
    "T.cosine_embedding_loss(x, y, T.sign(x[:, 0] - 0.5))",
    "T.binary_cross_entropy_with_logits(x, y)",
    "T.ctc_loss(x[:, None].log_softmax(2), T.tensor([[1, 2]], device=x.device), (3,), (2,))",
    *(
        f"T.grid_sampler(x[None, None], y[None, None, :, :2] * 2 - 1, {mode}, {padding}, {corners})"
        for mode in (0, 1, 2) for padding in (0, 1, 2) for corners in (True, False)
    ),
    "T.instance_norm(x[None], y[:, 0], y[:, 1], None, None, True, 0.1, 1e-5, False)",
    "T.instance_norm(x[None], None, None, y[:, 0] * 1, y[:, 1] + 1, False, 0.1, 1e-5, True)",
    "T.frobenius_norm(x, 1)", "T.frobenius_norm(x, (0, 1), True)", "T.frobenius_norm(x, ())",
    "T.nuclear_norm(x)", "T.nuclear_norm(x, keepdim=True)", "T.nuclear_norm(x[None], (0, 2))",
    "T.index_put_(x * 1, (T.tensor([0, 2], device=x.device),), y[:2], True)",
]  # fmt: skip


def values(torch, device):
    x = torch.tensor([[0.25, 0.5, 0.75], [0.1, 0.9, 0.6], [0.3, 0.2, 0.8]], device=device)
    y = torch.tensor([[0.5, 0.35, 0.2], [0.9, 0.4, 0.1], [0.7, 0.6, 0.3]], device=device)
    return x.double().requires_grad_(), y.double()


def result(torch, call, device="cpu"):  # and the gradient
    x, y = values(torch, device)
    out = eval(call, {"T": torch, "x": x, "y": y})
    out.sum().backward()
    return out.detach(), x.grad


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore:at..:UserWarning")
def test_like_torch(reference, call, device):
    for ours, theirs in zip(result(torch, call, device), result(reference, call), strict=True):
        same_as_torch(ours, theirs, None)


def test_a_number_that_says_nothing(on_device):
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match=r"reduction must be one of 0 \(none\), 1 .*, got 3"):
        torch.kl_div(x, x, 3)
    with pytest.raises(RuntimeError, match=r"interpolation_mode must be one of 0 \(bilinear\)"):
        torch.grid_sampler(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), 7, 0, False)
    with pytest.raises(RuntimeError, match="padding_mode must be one of"):
        torch.grid_sampler(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), 0, -1, False)


def test_words_and_numbers_agree(device):
    x, y = values(torch, device)
    assert torch.equal(torch.kl_div(x, y, 2), F.kl_div(x, y, reduction="sum"))
    assert torch.Stream is torch.cuda.Stream
    assert torch.Event is torch.cuda.Event
