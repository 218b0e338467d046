"""torchvision.datasets.utils: folders' names, quoted lists, files by their number at Google."""

import pytest

from rushlight.vision.datasets import utils


def test_names_in_a_folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "empty.png").mkdir()
    for name in ("a.png", "b.jpg", "c.txt"):
        (tmp_path / name).touch()
    assert sorted(utils.list_dir(tmp_path)) == ["empty.png", "inner"]
    assert sorted(utils.list_dir(str(tmp_path), prefix=True)) == [
        str(tmp_path / "empty.png"), str(tmp_path / "inner"),
    ]  # fmt: skip
    assert utils.list_files(tmp_path, ".png") == ["a.png"]
    assert sorted(utils.list_files(tmp_path, (".png", ".jpg"))) == ["a.png", "b.jpg"]
    assert utils.list_files(tmp_path, ".txt", prefix=True) == [str(tmp_path / "c.txt")]
    with pytest.raises(FileNotFoundError):
        utils.list_dir(tmp_path / "absent")


def test_items_in_quotes():
    assert utils.iterable_to_str(["train", "test", 3]) == "'train', 'test', '3'"
    assert utils.iterable_to_str(()) == "''"


def test_a_file_by_its_number(tmp_path, monkeypatch):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "a.zip").write_bytes(b"text")
    monkeypatch.setenv("RUSHLIGHT_DATA_MIRROR", str(tmp_path / "mirror"))
    utils.download_file_from_google_drive("12", str(tmp_path / "root"), "a.zip")
    assert (tmp_path / "root" / "a.zip").read_bytes() == b"text"
