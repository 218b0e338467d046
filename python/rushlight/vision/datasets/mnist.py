"""MNIST and the sets in its format: IDX files, big-endian, plain or gzipped."""

import os
import warnings

import rushlight

from ._archives import ArchiveError, read_gzip
from ._files import Place, md5_of, warn_of_checksum
from .vision import ArrayDataset

kMaxBytes = 1 << 30


class MNIST(ArrayDataset):
    """The MNIST digits: 28 x 28, grey, ten classes.

    Args:
        root: folder that holds, or will hold, `MNIST/raw` with the four files.
        train: the training images, or the test images.
        transform: takes the PIL image.
        target_transform: takes the class number.
        download: fetch the four archives that are not there. With RUSHLIGHT_DATA_MIRROR set they
            come from that folder or URL.

    Raises:
        RuntimeError: files that are missing or damaged, or no network; the message says where
            the archives belong.

    Source:
        Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-Based Learning Applied to Document
        Recognition, 1998.
    """

    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    classes = [
        "0 - zero",
        "1 - one",
        "2 - two",
        "3 - three",
        "4 - four",
        "5 - five",
        "6 - six",
        "7 - seven",
        "8 - eight",
        "9 - nine",
    ]

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        try:
            self.data, self.targets = self._load_data()
        except (OSError, ValueError, ArchiveError) as error:
            raise RuntimeError(
                f"Dataset not found. You can use download=True to download it\n{error}"
            ) from None

    @property
    def raw_folder(self):
        """Where the files are: root, class name, "raw"."""
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def processed_folder(self):
        """Where old versions of torchvision kept files of their own."""
        return os.path.join(self.root, type(self).__name__, "processed")

    @property
    def class_to_idx(self):
        """Class number by name."""
        return {name: i for i, name in enumerate(self.classes)}

    def _renamed(self, old, new):
        warnings.warn(f"{old} has been renamed {new}", stacklevel=3)
        return getattr(self, new)

    @property
    def train_labels(self):
        """The old name of `targets`."""
        return self._renamed("train_labels", "targets")

    @property
    def test_labels(self):
        """The old name of `targets`."""
        return self._renamed("test_labels", "targets")

    @property
    def train_data(self):
        """The old name of `data`."""
        return self._renamed("train_data", "data")

    @property
    def test_data(self):
        """The old name of `data`."""
        return self._renamed("test_data", "data")

    def _load_data(self):
        others = []
        split = "train" if self.train else "t10k"
        images = self._read(f"{split}-images-idx3-ubyte", 3, others)
        labels = self._read(f"{split}-labels-idx1-ubyte", 1, others).long()
        if len(images) != len(labels):
            raise ValueError(f"{len(images)} images and {len(labels)} labels in {self.raw_folder}")
        if others:
            warn_of_checksum(type(self).__name__, others)
        return images, labels

    def _read(self, name, rank, others):
        # The published checksums are the archives'; a plain file alone cannot be compared.
        plain = os.path.join(self.raw_folder, name)
        archive = f"{plain}.gz"
        md5 = dict(self.resources).get(f"{name}.gz")
        if os.path.isfile(archive) and md5 is not None and md5_of(archive) != md5:
            others.append(archive)
        if os.path.isfile(plain):
            if os.path.getsize(plain) > kMaxBytes:
                raise ValueError(f"{plain} is too large for images of this kind")
            with open(plain, "rb") as file:
                return read_idx(file.read(), plain, rank)
        if not os.path.isfile(archive):
            raise FileNotFoundError(f"neither {plain} nor {name}.gz beside it is there")
        return read_idx(read_gzip(archive, kMaxBytes), archive, rank)

    def _is_complete(self):
        for name, _ in self.resources:
            path = os.path.join(self.raw_folder, name)
            if not os.path.isfile(path) and not os.path.isfile(path[:-3]):
                return False
        return True

    def download(self):
        """Fetch the archives that are not there, and unpack them."""
        if self._is_complete():
            return
        name = type(self).__name__
        place = Place(name, self.raw_folder, shares_names=name != "MNIST")
        for name, md5 in self.resources:
            plain = os.path.join(self.raw_folder, name[:-3])
            if os.path.isfile(plain):
                continue
            archive = place.fetch(self.mirrors[0] + name, name, md5)
            data = read_gzip(archive, kMaxBytes)
            with open(f"{plain}.part", "wb") as file:
                file.write(data)
            os.replace(f"{plain}.part", plain)

    def _pixels(self):
        return self.data.unsqueeze(1)

    def _image(self, index):
        return self.data[index].numpy()

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


class FashionMNIST(MNIST):
    """Clothes in the format of MNIST; arguments as MNIST.

    Source:
        H. Xiao, K. Rasul, R. Vollgraf, Fashion-MNIST, 2017.
    """

    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ]
    classes = [
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ]


class KMNIST(MNIST):
    """Old Japanese letters in the format of MNIST; arguments as MNIST.

    Source:
        T. Clanuwat et al., Deep Learning for Classical Japanese Literature, 2018.
    """

    mirrors = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "bdb82020997e1d708af4cf47b453dcf7"),
        ("train-labels-idx1-ubyte.gz", "e144d726b3acfaa3e44228e80efcd344"),
        ("t10k-images-idx3-ubyte.gz", "5c965bf0a639b31b8f53240b1b52f4d7"),
        ("t10k-labels-idx1-ubyte.gz", "7320c461ea6c1c855c0b718fb2a4b134"),
    ]
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


def read_idx(data, path, rank):
    """The uint8 tensor of an IDX file.

    Args:
        data: the file's bytes.
        path: its name, for messages.
        rank: the dimensions that it must have.

    Raises:
        ValueError: another type, rank or size.
    """
    head = 4 + 4 * rank
    if len(data) < head or data[:2] != b"\0\0" or data[2] != 8 or data[3] != rank:
        raise ValueError(f"{path} is no IDX file of bytes in {rank} dimensions")
    sizes = [int.from_bytes(data[i : i + 4], "big") for i in range(4, head, 4)]
    total = 1
    for size in sizes:
        total *= size
    if total != len(data) - head:
        raise ValueError(f"{path} has {len(data) - head} bytes for the sizes {sizes}")
    if total == 0:
        return rushlight.zeros(sizes, dtype=rushlight.uint8)
    return rushlight.frombuffer(bytearray(data[head:]), dtype=rushlight.uint8).view(sizes)
