"""CosineSimilarity and PairwiseDistance."""

from rushlight.nn import functional as F
from rushlight.nn.modules.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last dimension.

    Args:
        p: the norm's exponent, negative too.
        eps: added to each difference, so that the gradient exists.
        keepdim: leave the last dimension with size 1.

    Shape: x1 and x2 (n, d) or (d), broadcast; (n) or (), or (n, 1) or (1) with keepdim.

    >>> torch.nn.PairwiseDistance()(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """

    norm: float
    eps: float
    keepdim: bool

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along `dim`.

    Args:
        dim: the dimension of the vectors.
        eps: the smallest norm, against division by 0.

    Shape: x1 and x2 (*, d, *), broadcast; the output without d.

    >>> torch.nn.CosineSimilarity()(torch.ones(1, 2), torch.tensor([[1.0, -1.0]]))
    tensor([0.])
    """

    dim: int
    eps: float

    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
