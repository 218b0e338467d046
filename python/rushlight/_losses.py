"""torch's own forms of losses of nn.functional, and of others of its functions, in which numbers
say what words say there: reduction 0 is "none", 1 "mean", 2 "sum". Without one torch takes 0,
though its signatures say 1.
"""

from __future__ import annotations

from rushlight import _C, linalg
from rushlight._C import Tensor
from rushlight._table import Sequence, op

REDUCTIONS = {0: "none", 1: "mean", 2: "sum"}
MODES = ("bilinear", "nearest", "bicubic")
PADDING = ("zeros", "border", "reflection")
__all__ = []


def _word(name, argument, number, words):
    if number in words:
        return words[number]
    known = ", ".join(f"{n} ({word})" for n, word in words.items())
    raise RuntimeError(f"{name}(): {argument} must be one of {known}, got {number}")


def _reduction(name, number):
    return _word(name, "reduction", number, REDUCTIONS)


def _functional():
    from rushlight.nn import functional

    return functional


@op("torch", autocast=("full", "full"))
def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False):
    """nn.functional.kl_div() with an int for the reduction.

    >>> torch.kl_div(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor([0.])
    """
    from rushlight.nn._functional._reduction import reduced

    word = _reduction("kl_div", reduction)
    loss = _functional().kl_div(input, target, reduction="none", log_target=log_target)
    return reduced(loss, word)


@op("torch", autocast=("full", "full"))
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
):
    """nn.functional.poisson_nll_loss() with an int for the reduction.

    >>> torch.poisson_nll_loss(torch.zeros(2), torch.ones(2), True, False, 1e-8, 1)
    tensor(1.)
    """
    word = _reduction("poisson_nll_loss", reduction)
    return _functional().poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=word)


@op("torch", autocast=("full", "full"))
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0):
    """nn.functional.hinge_embedding_loss() with an int for the reduction.

    >>> torch.hinge_embedding_loss(torch.tensor([2.0]), torch.tensor([1.0]))
    tensor([2.])
    """
    word = _reduction("hinge_embedding_loss", reduction)
    return _functional().hinge_embedding_loss(input, target, margin, reduction=word)


@op("torch", autocast=("full", "full"))
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
):
    """nn.functional.margin_ranking_loss() with an int for the reduction.

    >>> torch.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor([2.])
    """
    word = _reduction("margin_ranking_loss", reduction)
    return _functional().margin_ranking_loss(input1, input2, target, margin, reduction=word)


@op("torch", autocast=("full", "full"))
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
):
    """nn.functional.cosine_embedding_loss() with an int for the reduction.

    >>> torch.cosine_embedding_loss(torch.ones(1, 4), torch.ones(1, 4), torch.tensor([1]))
    tensor([0.])
    """
    word = _reduction("cosine_embedding_loss", reduction)
    return _functional().cosine_embedding_loss(input1, input2, target, margin, reduction=word)


@op("torch", autocast=("full", "full"))
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
):
    """nn.functional.triplet_margin_loss() with an int for the reduction.

    >>> torch.triplet_margin_loss(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1, 2), 1.0, 1.0)
    tensor([0.])
    """
    word = _reduction("triplet_margin_loss", reduction)
    return _functional().triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=word
    )


@op("torch", autocast=("full", "full"))
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 0,
):
    """nn.functional.binary_cross_entropy_with_logits() with an int for the reduction.

    >>> torch.binary_cross_entropy_with_logits(torch.zeros(1), torch.ones(1))
    tensor([0.6931])
    """
    word = _reduction("binary_cross_entropy_with_logits", reduction)
    return _C._nn.binary_cross_entropy_with_logits(
        input, target, weight, reduction=word, pos_weight=pos_weight
    )


@op("torch")
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
):
    """nn.functional.grid_sample() with ints for its modes.

    Args:
        interpolation_mode: 0 (bilinear), 1 (nearest) or 2 (bicubic).
        padding_mode: 0 (zeros), 1 (border) or 2 (reflection).

    >>> torch.grid_sampler(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), 0, 0, False)
    tensor([[[[1.]]]])
    """
    mode = _word("grid_sampler", "interpolation_mode", interpolation_mode, dict(enumerate(MODES)))
    padding = _word("grid_sampler", "padding_mode", padding_mode, dict(enumerate(PADDING)))
    return _C._nn.grid_sample(input, grid, mode, padding, align_corners)


@op("torch")
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
):
    """nn.functional.instance_norm() with its arguments in the order of torch's own function.

    Args:
        cudnn_enabled: nothing depends on it here.

    >>> torch.instance_norm(torch.ones(1, 1, 2), None, None, None, None, True, 0.1, 1e-5, False)
    tensor([[[0., 0.]]])
    """
    return _C._nn.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


@op("torch", out=True)
def frobenius_norm(input: Tensor, dim: Sequence[int], keepdim: bool = False):
    """sqrt(sum(x^2)) over one or two dimensions; see linalg.vector_norm().

    >>> torch.frobenius_norm(torch.tensor([[3.0, 4.0]]), 1)
    tensor([5.])
    """
    return linalg.vector_norm(input, 2, dim, keepdim)


@op("torch", out=True)
def nuclear_norm(input: Tensor, dim: tuple[int, ...] | bool = (-2, -1), keepdim: bool = False):
    """The sum of the singular values of matrices.

    Args:
        dim: the dimensions of the matrices; keepdim may come in its place.

    >>> torch.nuclear_norm(torch.eye(3))
    tensor(3.)
    """
    if isinstance(dim, bool):
        return linalg.matrix_norm(input, "nuc", keepdim=dim)
    return linalg.matrix_norm(input, "nuc", dim, keepdim)
