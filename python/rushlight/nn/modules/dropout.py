"""Dropout layers."""

from rushlight.nn import functional as F
from rushlight.nn.modules.module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    p: float
    inplace: bool

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zeroes elements with probability p in training and scales the others by 1 / (1 - p) (Hinton
    et al., 2012).

    Args:
        p: probability that an element is zeroed.
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.Dropout(0.2).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels (Tompson et al., 2015).

    Args: as of Dropout.

    Shape: (n, c, l) or (c, l) to the same.

    >>> torch.nn.Dropout1d(0.2).eval()(torch.ones(1, 2))
    tensor([[1., 1.]])
    """

    def forward(self, input):
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of images (Tompson et al., 2015).

    Args: as of Dropout.

    Shape: (n, c, h, w) or (n, c, l) to the same.

    >>> torch.nn.Dropout2d(1.0)(torch.ones(1, 1, 1, 2))
    tensor([[[[0., 0.]]]])
    """

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of volumes.

    Args: as of Dropout.

    Shape: (n, c, d, h, w) or (c, d, h, w) to the same.

    >>> torch.nn.Dropout3d(1.0)(torch.ones(1, 1, 1, 1, 2)).sum()
    tensor(0.)
    """

    def forward(self, input):
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean 0 and variance 1 after a SELU (Klambauer et al., 2017).

    Args: as of Dropout.

    Shape: any; the output has the input's.

    >>> torch.nn.AlphaDropout(0.2).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels.

    Args: as of Dropout.

    Shape: (n, c, *) to the same.

    >>> torch.nn.FeatureAlphaDropout(0.2).eval()(torch.ones(1, 2))
    tensor([[1., 1.]])
    """

    def forward(self, input):
        return F.feature_alpha_dropout(input, self.p, self.training)
