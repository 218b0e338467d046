"""Files that mean harm: an error or plain data, within a second, with little memory; never code."""

import io
import os
import random
import resource
import subprocess
import sys
import time

import pytest

import rushlight
from tests import hostile_files

ERRORS = ("UnpicklingError", "RuntimeError", "EOFError")


def attempt(content):
    """Loads and returns (result, error), watching time and memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    result = error = None
    try:
        result = rushlight.load(io.BytesIO(content))
    except Exception as raised:
        error = raised
    spent = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert spent < 1, f"{spent:.2f} s"
    assert grown < 2 * len(content) + 60e6, f"{grown / 1e6:.0f} MB for {len(content) / 1e6:.2f} MB"
    return result, error


def refused(content):
    result, error = attempt(content)
    assert error is not None, f"loaded {type(result)}"
    assert type(error).__name__ in ERRORS, repr(error)
    assert len(str(error)) < 3000


def by_name(pairs):
    return [pytest.param(content, id=name) for name, content in pairs]


@pytest.mark.parametrize("pickled", by_name(hostile_files.pickles()))
def test_hostile_pickle(pickled):
    refused(hostile_files.archive(pickled, hostile_files.DATA))


@pytest.mark.parametrize("pickled", by_name(hostile_files.harmless_pickles()))
def test_odd_pickle_is_data(pickled):
    _, error = attempt(hostile_files.archive(pickled, hostile_files.DATA))
    assert error is None


def test_hostile_archives():
    for name, content in hostile_files.archives():
        try:
            refused(content)
        except AssertionError as error:
            raise AssertionError(name) from error


@pytest.mark.parametrize("content", by_name(hostile_files.old_files()))
def test_hostile_old_file(content):
    refused(content)


@pytest.mark.parametrize("old", [False, True])
def test_damaged_bytes(old):
    file = io.BytesIO()
    held = {"w": rushlight.arange(6).reshape(2, 3).t(), "text": "x", "list": [1.5, (2, None)]}
    rushlight.save(held, file, _use_new_zipfile_serialization=not old)
    sound, chance = file.getvalue(), random.Random(0)
    for _ in range(1500):
        content = bytearray(sound)
        for _ in range(chance.choice([1, 2, 5])):
            at = chance.randrange(len(content))
            if chance.random() < 0.8:
                content[at] = chance.randrange(256)
            else:
                del content[at : at + chance.randrange(1, 9)]
        _, error = attempt(bytes(content))
        assert error is None or type(error).__name__ in ERRORS, repr(error)


def test_nothing_is_imported(tmp_path):
    """A file that names a module does not get it imported, weights_only being the default."""
    (tmp_path / "harm.py").write_text("print('harm done')\nclass Harm: pass\n")
    path = tmp_path / "file.pt"
    path.write_bytes(hostile_files.archive(b"charm\nHarm\n)R."))
    program = (
        "import rushlight\n"
        f"try: rushlight.load({os.fspath(path)!r})\n"
        "except Exception as error: print(error)"
    )
    folders = os.pathsep.join([os.fspath(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": folders},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "harm done" not in done.stdout
    assert "GLOBAL harm.Harm was not an allowed global" in done.stdout, done.stderr


@pytest.mark.parametrize("load", ["torch.load", "torch.jit.load"])
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_devices_have_no_end(load, device):
    call = rushlight.load if load == "torch.load" else rushlight.jit.load
    with pytest.raises(RuntimeError, match=f"{device} is a device, not a file"):
        call(device)
    with open(device, "rb") as file, pytest.raises(RuntimeError, match="is a device"):
        call(file)
