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


# Their files are not read: subclasses of them can be written, and no object be made.
_IMPORTABLE = (
    "CLEVRClassification Caltech101 Caltech256 CarlaStereo CelebA Cityscapes CocoCaptions "
    "CocoDetection Country211 DTD EMNIST EuroSAT FER2013 FGVCAircraft Flickr30k Flickr8k "
    "FlyingChairs Flowers102 Food101 GTSRB HMDB51 INaturalist ImageNet Imagenette Kinetics Kitti "
    "LFWPairs LFWPeople LSUN LSUNClass MovingMNIST Omniglot OxfordIIITPet PCAM PhotoTour Places365 "
    "QMNIST RenderedSST2 SBDataset SBU SEMEION STL10 SUN397 SVHN Sintel StanfordCars UCF101 USPS "
    "VOCDetection VOCSegmentation WIDERFace"
).split()


def __getattr__(name):
    if name in _IMPORTABLE:
        from rushlight._importable import make

        return globals().setdefault(name, make("vision.datasets", name, "class", "files"))
    from rushlight._version import __version__

    raise AttributeError(
        f"module 'torchvision.datasets' has no attribute {name!r}\n"
        f"torchvision.datasets.{name} is not in rushlight {__version__}; there are: "
        f"{', '.join(__all__)}."
    )
