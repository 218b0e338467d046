"""Data sets from files in their published formats: reading, mirrors, archives, errors."""

import gzip
import hashlib
import http.server
import io
import os
import pickle
import tarfile
import threading
import warnings
import zipfile

import numpy
import pytest

import rushlight
from rushlight.utils.data import DataLoader
from rushlight.vision import datasets, transforms

NAMES = [f"class {i}" for i in range(10)]


def cifar_files(count=4, seed=0):
    random = numpy.random.default_rng(seed)
    files = {"batches.meta": pickle.dumps({"label_names": NAMES, "num_vis": 3072}, 2)}
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        files[name] = pickle.dumps(
            {
                "data": random.integers(0, 256, (count, 3072), dtype=numpy.uint8),
                "labels": random.integers(0, 10, count).tolist(),
            },
            2,
        )
    return {f"cifar-10-batches-py/{name}": data for name, data in files.items()}


def tar_of(files, extra=()):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        for member in extra:
            tar.addfile(member)
    return stream.getvalue()


def write(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch):
    monkeypatch.delenv("RUSHLIGHT_DATA_MIRROR", raising=False)


@pytest.fixture
def cifar(tmp_path):
    write(tmp_path, cifar_files())
    return tmp_path


def make(root, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return datasets.CIFAR10(root, **options)


def test_cifar_in_place_warns_once(cifar):
    with pytest.warns(UserWarning, match="checksum is not the published one") as caught:
        train = datasets.CIFAR10(str(cifar), transform=transforms.ToTensor())
    assert len(caught) == 1
    assert caught[0].filename == __file__
    entry = pickle.loads(cifar_files()["cifar-10-batches-py/data_batch_1"])
    assert len(train) == 20
    assert train.data.shape == (20, 32, 32, 3)
    assert train.targets[:4] == entry["labels"]
    assert train.classes == NAMES
    assert train.class_to_idx["class 3"] == 3
    expected = entry["data"][1].reshape(3, 32, 32).astype(numpy.float32) / numpy.float32(255)
    image, target = train[1]
    assert image.dtype == rushlight.float32
    assert (image.numpy() == expected).all()
    assert target == entry["labels"][1]
    assert repr(train) == (
        "Dataset CIFAR10\n    Number of datapoints: 20\n"
        f"    Root location: {cifar}\n    Split: Train\n    StandardTransform\n"
        "Transform: ToTensor()"
    )
    assert len(make(cifar, train=False)) == 4


def test_images_are_pil_images(cifar):
    from PIL import Image

    image, target = make(cifar)[0]
    assert isinstance(image, Image.Image)
    assert image.size == (32, 32)
    assert isinstance(target, int)


NORMALIZE = transforms.Normalize((0.4, 0.5, 0.6), (0.2, 0.3, 0.4))


@pytest.mark.parametrize(
    "transform",
    [
        transforms.ToTensor(),
        transforms.Compose([transforms.ToTensor(), NORMALIZE]),
        transforms.Compose([transforms.ToTensor()]),
    ],
    ids=["tensor", "normalize", "compose"],
)
def test_a_batch_is_one_gather_with_the_same_numbers(cifar, transform):
    dataset = make(cifar, transform=transform)
    slow = make(cifar, transform=lambda image: transform(image))
    assert dataset.gather(rushlight.arange(3)) is not None
    assert slow.gather(rushlight.arange(3)) is None
    for a, b in zip(DataLoader(dataset, 6), DataLoader(slow, 6), strict=True):
        assert (a[0].numpy() == b[0].numpy()).all()
        assert a[0].is_contiguous()
        assert a[1].tolist() == b[1].tolist()
    dataset.data, dataset.targets = dataset.data[10:], dataset.targets[10:]
    (first,) = DataLoader(dataset, 20)
    assert (first[0][0].numpy() == slow[10][0].numpy()).all(), "a changed data must be seen"


def test_a_subclass_is_read_sample_by_sample(cifar):
    class Labelled(datasets.CIFAR10):
        def __getitem__(self, index):
            return index

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = Labelled(cifar, transform=transforms.ToTensor())
    assert next(iter(DataLoader(dataset, 3))).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.pop("cifar-10-batches-py/test_batch"), "test_batch is not there"),
        (lambda f: f.update({"cifar-10-batches-py/data_batch_3": b"junk"}), "data_batch_3"),
        (
            lambda f: f.update({"cifar-10-batches-py/batches.meta": pickle.dumps({"a": 1})}),
            "no list of names",
        ),
        (
            lambda f: f.update(
                {
                    "cifar-10-batches-py/data_batch_2": pickle.dumps(
                        {"data": numpy.zeros((2, 3072), numpy.uint8), "labels": [1, 12]}
                    )
                }
            ),
            "labels outside 0 to 9",
        ),
        (
            lambda f: f.update(
                {
                    "cifar-10-batches-py/data_batch_2": pickle.dumps(
                        {"data": numpy.zeros((2, 30), numpy.uint8), "labels": [1, 2]}
                    )
                }
            ),
            "3072 columns",
        ),
    ],
)
def test_damaged_sets_are_named(tmp_path, change, words):
    files = cifar_files()
    change(files)
    write(tmp_path, files)
    with pytest.raises(RuntimeError, match="Dataset not found or corrupted") as caught:
        make(tmp_path)
    assert words in str(caught.value)


def test_offline_says_where_the_archive_belongs(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.CIFAR10, "url", "http://127.0.0.1:9/cifar-10-python.tar.gz")
    with pytest.raises(RuntimeError, match=r"cannot get cifar-10-python\.tar\.gz") as caught:
        datasets.CIFAR10(tmp_path, download=True)
    text = str(caught.value)
    assert f"put the archive at {tmp_path}/cifar-10-python.tar.gz" in text
    assert "RUSHLIGHT_DATA_MIRROR" in text
    assert "c58f30108f718f92721af3b95e74349a" in text
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("inside", ["", "CIFAR10/"])
@pytest.mark.parametrize("kind", ["folder", "file URL", "http"])
def test_mirror(tmp_path, monkeypatch, capsys, inside, kind):
    mirror, root = tmp_path / "mirror", tmp_path / "root"
    write(mirror, {f"{inside}cifar-10-python.tar.gz": tar_of(cifar_files())})
    address, server = str(mirror), None
    if kind == "file URL":
        address = mirror.as_uri()
    elif kind == "http":
        server = serve(mirror)
        address = f"http://127.0.0.1:{server.server_address[1]}/"
    monkeypatch.setenv("RUSHLIGHT_DATA_MIRROR", address)
    try:
        with pytest.warns(UserWarning, match="checksum is not the published one"):
            train = datasets.CIFAR10(root, download=True)
    finally:
        if server is not None:
            server.shutdown()
            server.server_close()
    assert len(train) == 20
    assert "cifar-10-python.tar.gz: 100%" in capsys.readouterr().err
    assert sorted(os.listdir(root)) == ["cifar-10-batches-py", "cifar-10-python.tar.gz"]
    monkeypatch.setenv("RUSHLIGHT_DATA_MIRROR", str(tmp_path / "gone"))
    assert len(make(root, download=True)) == 20, "what is in place is not fetched again"


def serve(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def test_archive_put_in_place_needs_no_network(tmp_path):
    write(tmp_path, {"cifar-10-python.tar.gz": tar_of(cifar_files())})
    assert len(make(tmp_path, download=True)) == 20


def test_the_original_host_must_send_the_published_file(tmp_path, monkeypatch):
    write(tmp_path, {"host/cifar-10-python.tar.gz": tar_of(cifar_files())})
    url = (tmp_path / "host" / "cifar-10-python.tar.gz").as_uri()
    monkeypatch.setattr(datasets.CIFAR10, "url", url)
    with pytest.raises(RuntimeError, match="File not found or corrupted"):
        datasets.CIFAR10(tmp_path / "root", download=True)
    assert os.listdir(tmp_path / "root") == []


def link(name, target, kind):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    ("files", "extra"),
    [
        ({"../outside": b"x"}, ()),
        ({"cifar-10-batches-py/../../outside": b"x"}, ()),
        ({"/outside": b"x"}, ()),
        ({"C:/outside": b"x"}, ()),
        ({}, [link("cifar-10-batches-py/a", "/etc/passwd", tarfile.SYMTYPE)]),
        ({}, [link("cifar-10-batches-py/a", "../../b", tarfile.LNKTYPE)]),
        ({}, [link("cifar-10-batches-py/a", "", tarfile.FIFOTYPE)]),
        ({}, [link("cifar-10-batches-py/a", "", tarfile.CHRTYPE)]),
    ],
    ids=range(8),
)
def test_hostile_tar(tmp_path, files, extra):
    root = tmp_path / "root"
    archive = tar_of({**cifar_files(), **files}, extra)
    write(root, {"cifar-10-python.tar.gz": archive})
    with pytest.raises(RuntimeError, match="was not unpacked"):
        make(root, download=True)
    assert os.listdir(root) == ["cifar-10-python.tar.gz"], "nothing of it may remain"
    assert os.listdir(tmp_path) == ["root"]


def test_archive_that_unfolds(tmp_path):
    from rushlight.vision.datasets._archives import ArchiveError, read_gzip, unpack_tar, unpack_zip

    (tmp_path / "a.tar.gz").write_bytes(tar_of({"zeros": bytes(10_000_000)}))
    with pytest.raises(ArchiveError, match="unfolds"):
        unpack_tar(tmp_path / "a.tar.gz", tmp_path / "out", limit=1_000_000)
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(10_000_000)))
    with pytest.raises(ArchiveError, match="unfolds"):
        read_gzip(tmp_path / "a.gz", limit=1_000_000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("zeros", bytes(10_000_000))
    with pytest.raises(ArchiveError, match="unfolds"):
        unpack_zip(tmp_path / "a.zip", tmp_path / "out", limit=1_000_000)
    assert not os.path.exists(tmp_path / "out" / "zeros")


def test_hostile_zip(tmp_path):
    from rushlight.vision.datasets.utils import extract_archive

    for name, kind in (("../outside", 0), ("inside", 0o120777 << 16)):
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w") as zipped:
            member = zipfile.ZipInfo(name)
            member.external_attr = kind
            zipped.writestr(member, "/etc/passwd")
        with pytest.raises(RuntimeError, match="was not unpacked"):
            extract_archive(path, tmp_path / "out")
    for name in ("b.zip", "b.tar.gz", "b.gz"):
        (tmp_path / name).write_bytes(b"junk")
        with pytest.raises(RuntimeError, match="damaged"):
            extract_archive(tmp_path / name, tmp_path / "out")
    with pytest.raises(RuntimeError, match="Unknown compression"):
        extract_archive(tmp_path / "b.rar")


def test_truncated_archive(tmp_path):
    data = tar_of(cifar_files())
    write(tmp_path, {"cifar-10-python.tar.gz": data[: len(data) // 2]})
    with pytest.raises(RuntimeError, match="damaged or no tar file"):
        make(tmp_path, download=True)


def test_utils(tmp_path):
    from rushlight.vision.datasets import utils

    (tmp_path / "a.txt").write_bytes(b"text")
    md5 = hashlib.md5(b"text").hexdigest()
    assert utils.check_integrity(tmp_path / "a.txt", md5)
    assert not utils.check_integrity(tmp_path / "a.txt", "0" * 32)
    assert not utils.check_integrity(tmp_path / "b.txt")
    write(tmp_path, {"source/a.tar.gz": tar_of({"x/y.txt": b"text"})})
    url = (tmp_path / "source" / "a.tar.gz").as_uri()
    utils.download_and_extract_archive(url, tmp_path / "out")
    assert (tmp_path / "out" / "x" / "y.txt").read_bytes() == b"text"
    with pytest.raises(RuntimeError, match="no http, https or file URL"):
        utils.download_url("gopher://host/a", tmp_path / "out")
    with pytest.raises(ValueError, match="Unknown value 'c' for argument arg"):
        utils.verify_str_arg("c", "arg", ("a", "b"))


def test_cifar100(tmp_path):
    names = [f"fine {i}" for i in range(100)]
    files = {"cifar-100-python/meta": pickle.dumps({"fine_label_names": names})}
    for name in ("train", "test"):
        files[f"cifar-100-python/{name}"] = pickle.dumps(
            {
                "data": numpy.zeros((3, 3072), numpy.uint8),
                "fine_labels": [5, 99, 0],
                "coarse_labels": [1, 2, 3],
            }
        )
    write(tmp_path, files)
    with pytest.warns(UserWarning, match="checksum"):
        dataset = datasets.CIFAR100(tmp_path)
    assert dataset.targets == [5, 99, 0]
    assert len(dataset.classes) == 100


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return head + array.tobytes()


def mnist_files(count=5, seed=0):
    random = numpy.random.default_rng(seed)
    files = {}
    for split in ("train", "t10k"):
        images = random.integers(0, 256, (count, 28, 28), dtype=numpy.uint8)
        files[f"{split}-images-idx3-ubyte"] = idx(images)
        files[f"{split}-labels-idx1-ubyte"] = idx(numpy.arange(count, dtype=numpy.uint8))
    return files


def gzipped(files):
    return {f"{name}.gz": gzip.compress(data) for name, data in files.items()}


def test_mnist_in_place(tmp_path):
    files = mnist_files()
    write(tmp_path / "MNIST" / "raw", files)
    dataset = datasets.MNIST(tmp_path, transform=transforms.ToTensor())
    pixels = numpy.frombuffer(files["train-images-idx3-ubyte"][16:], numpy.uint8)
    assert dataset.data.shape == (5, 28, 28)
    assert dataset.data.numpy().ravel().tolist() == pixels.tolist()
    assert dataset.targets.dtype == rushlight.int64
    image, target = dataset[3]
    assert image.shape == (1, 28, 28)
    assert target == 3
    (batch,) = DataLoader(dataset, 5)
    assert (batch[0][3].numpy() == image.numpy()).all()
    assert batch[1].tolist() == [0, 1, 2, 3, 4]
    assert dataset.class_to_idx["3 - three"] == 3
    with pytest.warns(UserWarning, match="train_labels has been renamed targets"):
        assert dataset.train_labels is dataset.targets


@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST", "KMNIST"])
def test_mnist_mirror(tmp_path, monkeypatch, name):
    write(tmp_path / "mirror" / name, gzipped(mnist_files()))
    monkeypatch.setenv("RUSHLIGHT_DATA_MIRROR", str(tmp_path / "mirror"))
    with pytest.warns(UserWarning, match="checksum"):
        dataset = getattr(datasets, name)(tmp_path / "root", train=False, download=True)
    assert len(dataset) == 5
    assert len(dataset.classes) == 10
    names = set(os.listdir(tmp_path / "root" / name / "raw"))
    assert names == set(mnist_files()) | set(gzipped(mnist_files()))


def test_a_mirrors_flat_archives_are_mnists(tmp_path, monkeypatch):
    write(tmp_path / "mirror", gzipped(mnist_files()))
    monkeypatch.setenv("RUSHLIGHT_DATA_MIRROR", str(tmp_path / "mirror"))
    with pytest.raises(RuntimeError, match="is another data set's"):
        datasets.FashionMNIST(tmp_path / "root", download=True)
    with pytest.warns(UserWarning, match="checksum"):
        datasets.MNIST(tmp_path / "root", download=True)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\x08\x03",
        b"\0\0\x08\x02" + bytes(12),
        b"\0\0\x0d\x03" + bytes(12),
        b"\0\0\x08\x03" + b"\xff" * 12 + b"a",
        idx(numpy.zeros((5, 28, 28), numpy.uint8))[:-1],
        idx(numpy.zeros((4, 28, 28), numpy.uint8)),
    ],
    ids=range(7),
)
def test_damaged_idx(tmp_path, data):
    files = {**mnist_files(), "train-images-idx3-ubyte": data}
    write(tmp_path / "MNIST" / "raw", files)
    with pytest.raises(RuntimeError, match="Dataset not found"):
        datasets.MNIST(tmp_path)


def test_fake_data():
    data = datasets.FakeData(5, (3, 8, 9), 4)
    before = rushlight.get_rng_state().tolist()
    image, target = data[2]
    assert rushlight.get_rng_state().tolist() == before
    assert image.size == (9, 8)
    assert 0 <= target < 4
    assert data[2][0].tobytes() == image.tobytes()
    with pytest.raises(IndexError, match="FakeData index out of range"):
        data[5]


def test_image_folder(tmp_path):
    from PIL import Image

    for name, colour in (("cat", 10), ("dog/deep", 200)):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        for i in range(2):
            Image.new("L", (6, 5), colour).save(folder / f"{i}.PNG")
        (folder / "notes.txt").write_text("no image")
    data = datasets.ImageFolder(tmp_path, transform=transforms.ToTensor())
    assert data.classes == ["cat", "dog"]
    assert data.imgs is data.samples
    assert data.targets == [0, 0, 1, 1]
    assert data[3][0].shape == (3, 5, 6)
    assert data[3][0][0, 0, 0].item() == rushlight.tensor(200 / 255).item()
    (tmp_path / "fox").mkdir()
    with pytest.raises(FileNotFoundError, match="Found no valid file for the classes fox"):
        datasets.ImageFolder(tmp_path)
    assert len(datasets.ImageFolder(tmp_path, allow_empty=True).classes) == 3
    with pytest.raises(FileNotFoundError, match="Couldn't find any class folder"):
        datasets.ImageFolder(tmp_path / "fox")
    (tmp_path / "fox" / "a.png").write_bytes(b"junk")
    with pytest.raises(OSError, match="cannot identify image file") as caught:
        datasets.ImageFolder(tmp_path)[4]
    assert "fox/a.png" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="Both extensions and is_valid_file"):
        datasets.make_dataset(tmp_path)


def test_vision_dataset():
    class Three(datasets.VisionDataset):
        def __len__(self):
            return 3

    assert repr(Three("root")) == (
        "Dataset Three\n    Number of datapoints: 3\n    Root location: root"
    )
    with pytest.raises(ValueError, match="Only transforms or transform/target_transform"):
        Three("root", transforms=1, transform=2)


def test_data_sets_whose_files_are_not_read():
    from rushlight.vision.datasets import SVHN

    class Mine(SVHN):
        pass

    for made in (SVHN, Mine):
        with pytest.raises(NotImplementedError, match=r"torchvision\.datasets\.SVHN is not in"):
            made("root", split="train")
    with pytest.raises(AttributeError, match=r"torchvision\.datasets\.Nonsense is not"):
        _ = datasets.Nonsense
