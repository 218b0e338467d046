"""CIFAR10 and CIFAR100 in the published format: a folder of pickled dicts.

Read by a reader that runs no code; see _pickles.py. What decides is the structure of the files;
another checksum than the published one is a warning.
"""

import os

from ._files import Place, warn_of_checksum
from ._pickles import PickleError, read_pickle
from .vision import ArrayDataset

kPixels = 3072  # 3 channels of 32 x 32


class CIFAR10(ArrayDataset):
    """The CIFAR-10 images: 32 x 32, colour, ten classes.

    Args:
        root: folder that holds, or will hold, `cifar-10-batches-py`.
        train: the training images, or the test images.
        transform: takes the PIL image.
        target_transform: takes the class number.
        download: fetch and unpack the archive if the files are not there. With
            RUSHLIGHT_DATA_MIRROR set it comes from that folder or URL.

    Raises:
        RuntimeError: files that are missing or damaged, or no network; the message says where
            the archive belongs.

    Source:
        A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.
    """

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = [
        ["data_batch_1", "c99cafc152244af753f735de768cd75f"],
        ["data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"],
        ["data_batch_3", "54ebc095f3ab1f0389bbae665268c751"],
        ["data_batch_4", "634d18415352ddfa80567beed471001a"],
        ["data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"],
    ]
    test_list = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta = {
        "filename": "batches.meta",
        "key": "label_names",
        "md5": "5ff9c542aee3614f3951f8cda6e48888",
    }

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        try:
            self._load()
            return
        except (OSError, PickleError) as error:
            if not download:
                raise RuntimeError(
                    "Dataset not found or corrupted. You can use download=True to download it\n"
                    f"{error}"
                ) from None
        self.download()
        try:
            self._load()
        except (OSError, PickleError) as error:
            archive = os.path.join(self.root, self.filename)
            raise RuntimeError(
                f"File not found or corrupted.\n{error}\nIt came from {archive}: delete that file "
                "to fetch it again."
            ) from None

    def _path(self, name):
        return os.path.join(self.root, self.base_folder, name)

    def _load(self):
        import numpy

        # All files are looked for, as torchvision does, so that a half-unpacked set is noticed.
        for name, _ in self.train_list + self.test_list:
            if not os.path.isfile(self._path(name)):
                raise FileNotFoundError(f"{self._path(name)} is not there")
        names = self._read_names()
        parts, targets, others = [], [], []
        for name, md5 in self.train_list if self.train else self.test_list:
            pixels, labels, has_md5 = self._read_batch(name, md5, len(names))
            parts.append(pixels)
            targets += labels
            others += [] if has_md5 else [name]
        self.data = numpy.concatenate(parts).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.targets = targets
        self.classes = names
        self.class_to_idx = {name: i for i, name in enumerate(names)}
        if others:
            warn_of_checksum(type(self).__name__, [self._path(name) for name in others])

    def _read_names(self):
        path = self._path(self.meta["filename"])
        names = read_pickle(path)[0].get(self.meta["key"])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise PickleError(f"{path} has no list of names under {self.meta['key']!r}")
        return names

    def _read_batch(self, name, md5, classes):
        import numpy

        path = self._path(name)
        entry, found_md5 = read_pickle(path)
        pixels = entry.get("data")
        labels = entry.get("labels", entry.get("fine_labels"))
        if not isinstance(pixels, numpy.ndarray) or pixels.ndim != 2 or pixels.shape[1] != kPixels:
            raise PickleError(f"{path} has no uint8 array of {kPixels} columns under 'data'")
        if not isinstance(labels, list) or len(labels) != len(pixels):
            raise PickleError(f"{path} has no list of {len(pixels)} labels")
        if not all(type(label) is int and 0 <= label < classes for label in labels):
            raise PickleError(f"{path} has labels outside 0 to {classes - 1}")
        return pixels, labels, found_md5 == md5

    def download(self):
        """Fetch the archive and unpack it, unless it is in place already."""
        place = Place(type(self).__name__, self.root)
        archive = place.fetch(self.url, self.filename, self.tgz_md5)
        place.unpack_tar(archive, self.base_folder)

    def _pixels(self):
        import rushlight

        return rushlight.from_numpy(self.data).permute(0, 3, 1, 2)

    def _image(self, index):
        return self.data[index]

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


class CIFAR100(CIFAR10):
    """The CIFAR-100 images: 32 x 32, colour, a hundred classes; arguments as CIFAR10."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta = {
        "filename": "meta",
        "key": "fine_label_names",
        "md5": "7973b15100ade9c7d40fb424638fde48",
    }
