"""Blocks of feature maps set to 0 at random."""

import math

import rushlight
from rushlight import nn
from rushlight.nn import functional as F


def _drop_block(dimensions, pool, input, p, block_size, inplace, eps, training):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}.")
    if input.ndim != dimensions + 2:
        raise ValueError(
            f"input should be {dimensions + 2} dimensional. Got {input.ndim} dimensions."
        )
    if not training or p == 0.0:
        return input
    sizes = input.shape[2:]
    block = min(block_size, *sizes)
    if block % 2 == 0:
        raise ValueError(f"block size should be odd. Got {block} which is even.")
    starts = [n - block + 1 for n in sizes]
    # So many starts of blocks that a share p is covered.
    rate = p * math.prod(sizes) / (block**dimensions * math.prod(starts))
    noise = rushlight.empty((*input.shape[:2], *starts), dtype=input.dtype, device=input.device)
    noise = F.pad(noise.bernoulli_(rate), [block // 2] * (2 * dimensions), value=0)
    noise = 1 - pool(noise, stride=1, kernel_size=block, padding=block // 2)
    scale = noise.numel() / (eps + noise.sum())
    return input.mul_(noise).mul_(scale) if inplace else input * noise * scale


def drop_block2d(input, p, block_size, inplace=False, eps=1e-6, training=True):
    """Sets squares of the feature maps to 0, together a share p, and scales the rest.

    Args:
        input: (n, channels, height, width).
        p: the share.
        block_size: the side of a square, odd.
        inplace: whether the input itself is written to.
        eps: keeps the divisor from 0.
        training: otherwise the input comes back as it is.

    Source: Ghiasi et al., DropBlock, 2018.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import drop_block2d
    >>> drop_block2d(torch.ones(1, 1, 4, 4), 0.0, 3).sum()
    tensor(16.)
    """
    return _drop_block(2, F.max_pool2d, input, p, block_size, inplace, eps, training)


def drop_block3d(input, p, block_size, inplace=False, eps=1e-6, training=True):
    """Sets cubes of the feature maps to 0, together a share p, and scales the rest.

    Args:
        input: (n, channels, depth, height, width).
        p: the share.
        block_size: the side of a cube, odd.
        inplace: whether the input itself is written to.
        eps: keeps the divisor from 0.
        training: otherwise the input comes back as it is.

    Source: Ghiasi et al., DropBlock, 2018.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import drop_block3d
    >>> drop_block3d(torch.ones(1, 1, 2, 2, 2), 0.5, 1, training=False).sum()
    tensor(8.)
    """
    return _drop_block(3, F.max_pool3d, input, p, block_size, inplace, eps, training)


class DropBlock2d(nn.Module):
    """drop_block2d() as a layer.

    Args:
        p: the share.
        block_size: the side of a square, odd.
        inplace: whether the input itself is written to.
        eps: keeps the divisor from 0.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import DropBlock2d
    >>> DropBlock2d(0.1, 3)
    DropBlock2d(p=0.1, block_size=3, inplace=False)
    """

    _call = staticmethod(drop_block2d)

    def __init__(self, p, block_size, inplace=False, eps=1e-6):
        super().__init__()
        self.p, self.block_size, self.inplace, self.eps = p, block_size, inplace, eps

    def forward(self, input):
        options = self.p, self.block_size, self.inplace, self.eps, self.training
        return self._call(input, *options)

    def __repr__(self):
        options = f"p={self.p}, block_size={self.block_size}, inplace={self.inplace}"
        return f"{type(self).__name__}({options})"


class DropBlock3d(DropBlock2d):
    """drop_block3d() as a layer.

    Args:
        p: the share.
        block_size: the side of a cube, odd.
        inplace: whether the input itself is written to.
        eps: keeps the divisor from 0.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import DropBlock3d
    >>> DropBlock3d(0.1, 3).p
    0.1
    """

    _call = staticmethod(drop_block3d)
