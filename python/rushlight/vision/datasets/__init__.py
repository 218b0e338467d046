"""Data sets in their published formats."""

from .cifar import CIFAR10, CIFAR100
from .fakedata import FakeData
from .folder import DatasetFolder, ImageFolder, default_loader, make_dataset
from .mnist import KMNIST, MNIST, FashionMNIST
from .vision import VisionDataset

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "KMNIST",
    "MNIST",
    "DatasetFolder",
    "FakeData",
    "FashionMNIST",
    "ImageFolder",
    "VisionDataset",
    "default_loader",
    "make_dataset",
]


def __getattr__(name):
    from rushlight._version import __version__

    raise AttributeError(
        f"module 'torchvision.datasets' has no attribute {name!r}\n"
        f"torchvision.datasets.{name} is not in rushlight {__version__}; there are: "
        f"{', '.join(__all__)}."
    )
