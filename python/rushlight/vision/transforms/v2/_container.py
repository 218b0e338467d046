"""Lists of transforms of samples, of which some are done, or in any order."""

from collections.abc import Sequence

import rushlight
from rushlight import nn

from ._transform import Transform

__all__ = ["RandomApply", "RandomChoice", "RandomOrder"]


class _List(Transform):
    # A list of transforms; `_order` draws which of them are done.

    def __init__(self, transforms):
        super().__init__()
        if not isinstance(transforms, Sequence | nn.ModuleList):
            raise TypeError("Argument transforms should be a sequence of callables")
        self.transforms = transforms

    def forward(self, *inputs):
        """The sample, transformed."""
        sample = inputs if len(inputs) > 1 else inputs[0]
        for i in self._order():
            sample = self.transforms[i](*(sample if len(inputs) > 1 else (sample,)))
        return sample


class RandomApply(_List):
    """All of a list of transforms with probability p, else none.

    Args:
        transforms: the transforms.
        p: the probability.

    >>> from rushlight.vision.transforms import v2
    >>> v2.RandomApply([v2.CenterCrop(4)], p=1.0)(torch.ones(3, 8, 16), 7)[0].shape
    torch.Size([3, 4, 4])
    """

    def __init__(self, transforms, p=0.5):
        super().__init__(transforms)
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def _order(self):
        return range(len(self.transforms)) if rushlight.rand(1).item() < self.p else ()


class RandomChoice(_List):
    """One of a list of transforms, chosen at random.

    Args:
        transforms: the transforms.
        p: their weights; equal if None.

    >>> from rushlight.vision.transforms import v2
    >>> v2.RandomChoice([v2.CenterCrop(4)])(torch.ones(3, 8, 16)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        weights = [1] * len(transforms) if p is None else list(p)
        if len(weights) != len(transforms):
            raise ValueError(
                f"Length of p doesn't match the number of transforms: {len(weights)} != "
                f"{len(transforms)}"
            )
        total = sum(weights)
        self.p = [weight / total for weight in weights]

    def _order(self):
        return [rushlight.multinomial(rushlight.tensor(self.p), 1).item()]


class RandomOrder(_List):
    """A list of transforms in random order.

    Args:
        transforms: the transforms.

    >>> from rushlight.vision.transforms import v2
    >>> v2.RandomOrder([v2.CenterCrop(4), v2.Grayscale()])(torch.ones(3, 8, 16)).shape
    torch.Size([1, 4, 4])
    """

    def _order(self):
        return rushlight.randperm(len(self.transforms)).tolist()
