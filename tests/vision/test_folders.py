"""Folders of images whose links lead in circles."""

import os

import pytest

from rushlight.vision import datasets


def test_links_that_lead_back_are_not_followed(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.png").touch()
    for number in range(3):  # each way has a choice of three at every turn
        (tmp_path / "cat" / f"up{number}").symlink_to("..")
        (tmp_path / "cat" / f"other{number}").symlink_to("../dog")
        (tmp_path / "dog" / f"back{number}").symlink_to("../cat")
    data = datasets.ImageFolder(tmp_path)
    cats = [path for path, label in data.samples if label == 0]
    assert os.fspath(tmp_path / "cat" / "cat.png") in cats
    assert os.fspath(tmp_path / "cat" / "other0" / "dog.png") in cats
    assert not any("back0" in path for path in cats if "up" not in path)


def test_links_that_lead_to_one_another(tmp_path):
    (tmp_path / "cat").mkdir()
    for number in range(8):
        (tmp_path / f"folder{number}").mkdir()
    for folder in tmp_path.glob("folder*"):
        (tmp_path / "cat" / folder.name).symlink_to(folder)
        for other in tmp_path.glob("folder*"):
            (folder / f"to_{other.name}").symlink_to(other)
    with pytest.raises(ValueError, match="more than 10000 links to folders"):
        datasets.ImageFolder(tmp_path)
