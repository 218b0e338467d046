"""Instance normalisation (Ulyanov et al., 2016)."""

import warnings

from rushlight.nn import functional as F
from rushlight.nn.modules.batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d",
    "LazyInstanceNorm2d", "LazyInstanceNorm3d",
]  # fmt: skip


class _InstanceNorm(_NormBase):
    rank = 0

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False,
        device=None, dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input):
        low, high = self.rank + 1, self.rank + 2
        if input.dim() not in (low, high):
            raise ValueError(f"expected {low}D or {high}D input (got {input.dim()}D input)")

    def forward(self, input):
        self._check_input_dim(input)
        channel_dim = input.dim() - self.rank - 1
        if input.size(channel_dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={channel_dim} to match num_features "
                    f"({self.num_features}), but got: {input.size(channel_dim)}."
                )
            warnings.warn(
                f"input's size at dim={channel_dim} does not match num_features. You can silence "
                "this warning by not passing in num_features, which is not used because "
                "affine=False",
                stacklevel=2,
            )
        out = F.instance_norm(
            input if channel_dim else input.unsqueeze(0), self.running_mean, self.running_var,
            self.weight, self.bias, self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return out if channel_dim else out.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias, per channel of each instance (Ulyanov et al.,
    2016).

    Args: as of InstanceNorm2d.

    Shape: (n, c, l) or (c, l) to the same.

    >>> torch.nn.InstanceNorm1d(1)(torch.tensor([[[-1.0, 1.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """

    rank = 1


class InstanceNorm2d(_InstanceNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias, per channel of each instance (Ulyanov et al.,
    2016).

    Args:
        num_features: number of channels c.
        eps: added to the variance.
        momentum: weight of the batch in the running statistics.
        affine: whether there are weight and bias.
        track_running_stats: keep running statistics and use them in evaluation.
        device, dtype: of the parameters.
        bias: whether there is a bias, if affine.

    Shape: (n, c, h, w) or (c, h, w) to the same.

    >>> torch.nn.InstanceNorm2d(3)(torch.ones(2, 3, 4, 4)).sum()
    tensor(0.)
    """

    rank = 2


class InstanceNorm3d(_InstanceNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias, per channel of each instance.

    Args: as of InstanceNorm2d.

    Shape: (n, c, d, h, w) or (c, d, h, w) to the same.

    >>> torch.nn.InstanceNorm3d(3)(torch.ones(2, 3, 2, 2, 2)).sum()
    tensor(0.)
    """

    rank = 3


class LazyInstanceNorm1d(_LazyNormBase, InstanceNorm1d):
    """An InstanceNorm1d whose `num_features` is taken from the first input; affine, with running
    statistics.

    Args: as of InstanceNorm2d, where affine and track_running_stats are True by default.

    Shape: (n, c, l) or (c, l) to the same.

    >>> torch.nn.LazyInstanceNorm1d()(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormBase, InstanceNorm2d):
    """An InstanceNorm2d whose `num_features` is taken from the first input; affine, with running
    statistics.

    Args: as of InstanceNorm2d, where affine and track_running_stats are True by default.

    Shape: (n, c, h, w) or (c, h, w) to the same.

    >>> torch.nn.LazyInstanceNorm2d()(torch.ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormBase, InstanceNorm3d):
    """An InstanceNorm3d whose `num_features` is taken from the first input; affine, with running
    statistics.

    Args: as of InstanceNorm2d, where affine and track_running_stats are True by default.

    Shape: (n, c, d, h, w) or (c, d, h, w) to the same.

    >>> torch.nn.LazyInstanceNorm3d()(torch.ones(2, 3, 1, 1, 2)).shape
    torch.Size([2, 3, 1, 1, 2])
    """

    cls_to_become = InstanceNorm3d
