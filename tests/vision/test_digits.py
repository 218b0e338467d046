"""The script that writes scikit-learn's digits in CIFAR-10's format."""

import importlib.util
import pathlib
import pickle

import numpy
import pytest

from rushlight.vision import datasets, transforms

pytest.importorskip("sklearn")
SCRIPT = pathlib.Path(__file__).parents[2] / "notebooks" / "digits_as_cifar10.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("digits_as_cifar10", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_folder(script, tmp_path):
    folder = pathlib.Path(script.write_folder(tmp_path))
    with pytest.warns(UserWarning, match="checksum"):
        train = datasets.CIFAR10(tmp_path, transform=transforms.ToTensor())
    with pytest.warns(UserWarning, match="checksum"):
        test = datasets.CIFAR10(tmp_path, train=False)
    assert (len(train), len(test)) == (1500, 297)
    assert sorted(set(train.targets)) == list(range(10))
    assert train.classes[7] == "digit 7"
    assert train[0][0].shape == (3, 32, 32)
    assert train[0][0].max().item() == 1
    entry = pickle.loads((folder / "test_batch").read_bytes(), encoding="latin1")
    assert entry["data"].dtype == numpy.uint8
    assert (entry["data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1) == test.data).all()


def test_archive(script, tmp_path, monkeypatch):
    script.write_archive(tmp_path / "mirror")
    monkeypatch.setenv("RUSHLIGHT_DATA_MIRROR", str(tmp_path / "mirror"))
    with pytest.warns(UserWarning, match="checksum"):
        train = datasets.CIFAR10(tmp_path / "root", download=True)
    assert len(train) == 1500
