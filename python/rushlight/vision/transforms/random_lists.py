"""RandomApply, RandomOrder, RandomChoice: lists of transforms, applied by chance. The last two use
Python's random, as in torchvision.
"""

import random
from collections.abc import Sequence

import rushlight
from rushlight import nn


class _List:
    """Base of transforms over a list of transforms."""

    def __init__(self, transforms):
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __repr__(self):
        lines = "".join(f"\n    {transform}" for transform in self.transforms)
        return f"{type(self).__name__}({lines}\n)"


class RandomApply(nn.Module):
    """All of a list of transforms with some probability, else none.

    Args:
        transforms: the transforms.
        p: the probability.

    Shape: whatever the transforms take and give.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomApply([transforms.CenterCrop(4)], p=1.0)(torch.ones(3, 8, 16)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, img):
        if self.p < rushlight.rand(1).item():
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        lines = "".join(f"\n    {transform}" for transform in self.transforms)
        return f"{type(self).__name__}(\n    p={self.p}{lines}\n)"


class RandomOrder(_List):
    """A list of transforms in random order.

    Args:
        transforms: the transforms.

    Shape: whatever the transforms take and give.

    >>> from rushlight.vision import transforms
    >>> order = transforms.RandomOrder([transforms.CenterCrop(4), transforms.Grayscale()])
    >>> order(torch.ones(3, 8, 16)).shape
    torch.Size([1, 4, 4])
    """

    def __call__(self, img):
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomChoice(_List):
    """One of a list of transforms, chosen at random.

    Args:
        transforms: the transforms.
        p: their weights; equal if None.

    Shape: whatever the transforms take and give.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomChoice([transforms.CenterCrop(4)])(torch.ones(3, 8, 16)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args):
        (transform,) = random.choices(self.transforms, weights=self.p)
        return transform(*args)

    def __repr__(self):
        return f"{super().__repr__()}(p={self.p})"
