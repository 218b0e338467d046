"""torch.hub: files are fetched once, checked and read without running code."""

import hashlib
import sys
import types

import pytest

import rushlight as torch


@pytest.fixture
def served(tmp_path, monkeypatch):
    """(URL of a file of weights with its digest in its name, folder that hub keeps files in)"""
    monkeypatch.setattr(torch.hub, "_folder", str(tmp_path / "hub"))
    plain = tmp_path / "weights.pth"
    torch.save({"weight": torch.arange(3)}, plain)
    digest = hashlib.sha256(plain.read_bytes()).hexdigest()
    source = tmp_path / f"weights-{digest[:8]}.pth"
    plain.rename(source)
    return source, tmp_path / "hub" / "checkpoints"


def test_fetched_once(served, capsys):
    source, kept = served
    url = source.as_uri()
    assert torch.hub.load_state_dict_from_url(url, check_hash=True)["weight"].tolist() == [0, 1, 2]
    assert (kept / source.name).exists()
    source.unlink()
    assert torch.utils.model_zoo.load_url(url)["weight"].tolist() == [0, 1, 2]


def test_another_file_of_that_name_is_refused(served):
    source, kept = served
    source.write_bytes(b"something else")
    with pytest.raises(RuntimeError, match="invalid hash value"):
        torch.hub.load_state_dict_from_url(source.as_uri(), check_hash=True)
    assert not list(kept.iterdir())


def test_no_network_says_where_to_put_it(served):
    _, kept = served
    with pytest.raises(RuntimeError, match=f"put the file at {kept}/absent.pth"):
        torch.hub.load_state_dict_from_url("file:///nowhere/absent.pth")
    with pytest.raises(RuntimeError, match="no http, https or file URL"):
        torch.hub.load_state_dict_from_url("ftp://nowhere/absent.pth")


def test_models_of_a_folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "import rushlight\ndef small(width):\n    'A layer.'\n"
        "    return rushlight.nn.Linear(1, width)\n"
    )
    where = {"source": "local"}
    assert "small" in torch.hub.list(str(tmp_path), **where)
    assert torch.hub.help(str(tmp_path), "small", **where) == "A layer."
    assert torch.hub.load(str(tmp_path), "small", 4, **where).out_features == 4
    with pytest.raises(RuntimeError, match="Cannot find callable big in hubconf"):
        torch.hub.load(str(tmp_path), "big", **where)
    for name in ("__class__", "__init__"):  # the module's own, not the file's
        with pytest.raises(RuntimeError, match=f"Cannot find callable {name} in hubconf"):
            torch.hub.load(str(tmp_path), name, **where)
    with pytest.raises(ValueError, match="model should be a string of function name"):
        torch.hub.load(str(tmp_path), 5, **where)
    with pytest.raises(NotImplementedError, match="it would run code from the network"):
        torch.hub.load("pytorch/vision", "resnet18")
    with pytest.raises(FileNotFoundError):
        torch.hub.load(str(tmp_path / "none"), "small", **where)


def test_packages_that_a_model_needs(tmp_path):
    file = tmp_path / "hubconf.py"
    file.write_text("dependencies = ['math', 'absent_a', 'absent_b']\ndef small(): pass\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: absent_a, absent_b"):
        torch.hub.load(str(tmp_path), "small", source="local")


def test_what_has_no_end_is_not_fetched(tmp_path):
    with pytest.raises(OSError, match="more than the 0 bytes came that were announced"):
        torch.hub.download_url_to_file("file:///dev/zero", str(tmp_path / "a"), progress=False)
    assert not list(tmp_path.iterdir())


def test_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.hub, "_folder", None)
    monkeypatch.setattr(torch.hub, "_folder", None)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert torch.hub.get_dir() == str(tmp_path / "hub")
    torch.hub.set_dir(str(tmp_path / "x"))
    assert torch.hub.get_dir() == str(tmp_path / "x")


def test_names_that_libraries_import(tmp_path, monkeypatch):
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        with pytest.raises(ModuleNotFoundError, match="tqdm"):
            _ = torch.hub.tqdm
    else:
        assert torch.hub.tqdm is tqdm
    monkeypatch.setattr(torch.hub, "_folder", None)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert torch.hub._get_torch_home() == str(tmp_path)
    assert torch.hub.get_dir() == str(tmp_path / "hub")


def test_the_bar_of_progress_has_its_old_path(monkeypatch):
    bars = types.ModuleType("tqdm.auto")
    bars.tqdm = object()
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", bars)
    assert torch.utils.model_zoo.tqdm is bars.tqdm
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = torch.utils.model_zoo.other
