"""What is installed: one version, a clean shared library, types, a light import."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import rushlight
from rushlight import _C

FOLDER = pathlib.Path(rushlight.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parent.parent
# What `import rushlight` may not load: each costs milliseconds, NumPy seventy.
HEAVY = {
    "PIL", "asyncio", "concurrent.futures", "ctypes", "dataclasses", "inspect", "logging",
    "multiprocessing", "numpy", "pickle", "socket", "subprocess", "tempfile", "tensorboardX",
    "torch", "typing", "urllib.request", "zipfile",
}  # fmt: skip


def fresh(program):
    """Lines printed by a new process without site-packages' start-up files, which only an editable
    installation needs: its library lies apart from its sources."""
    editable = pathlib.Path(_C.__file__).parent != FOLDER
    return subprocess.run(
        [sys.executable, *(() if editable else ("-S",)), "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PYTHONPATH": str(FOLDER.parent)},
    ).stdout.splitlines()


def test_import_is_light():
    """No NumPy, no heavy module, no thread."""
    modules, threads = fresh(
        "import os, sys\n"
        "before = set(sys.modules)\n"
        "import rushlight\n"
        "print(*sorted(set(sys.modules) - before))\n"
        "print(len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 1)\n"
    )
    assert not set(modules.split()) & HEAVY
    assert threads == "1"


def test_a_subinterpreter_is_refused():
    """Its import fails, and the main interpreter's goes on working."""
    said = fresh(
        "try:\n"
        "    import _interpreters as inside\n"
        "    run = inside.exec\n"
        "except ImportError:\n"
        "    import _xxsubinterpreters as inside\n"
        "    run = inside.run_string\n"
        "import rushlight\n"
        "try:\n"
        "    said = run(inside.create(), 'import rushlight')\n"
        "except inside.RunFailedError as error:\n"
        "    said = error\n"
        "print('ImportError' in str(said), (rushlight.ones(2) + 1).sum().item())\n"
    )
    assert said == ["True 4.0"]


def test_one_version():
    line = (ROOT / "python/rushlight/_version.py").read_text().splitlines()[-1]
    assert line == f'__version__ = "{rushlight.__version__}"'
    assert re.search(
        rf"^## {re.escape(rushlight.__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), re.M
    )


def test_versions_compare():
    version = rushlight.torch_version.TorchVersion
    assert type(rushlight.__version__) is version and isinstance(rushlight.__version__, str)
    rising = "1.dev3 1a0 1.0rc2 1 1.post1 1.9 1.10.0 2.13+cpu 2.13+3 1!0".split()
    for i, low in enumerate(rising):
        for high in rising[i + 1 :]:
            assert version(low) < high and version(high) > low, (low, high)
            assert not version(low) >= high and version(high) >= low and version(low) != high
    assert version("1.10") == "1.10.0" == version("1.10.0") and version("2.13.0") == (2, 13, 0)
    assert version("2.13.0+cu130") >= (2, 13) and version("2.9") < [2, 13]
    assert version("2.13") < "parrot"  # as strings
    assert hash(version("2.13")) == hash("2.13") and version("2") != 2
    with pytest.raises(TypeError):
        version("2") < 2


def test_typed():
    assert (FOLDER / "py.typed").is_file()
    assert (FOLDER / "_C.pyi").is_file()


@pytest.mark.skipif(not shutil.which("readelf"), reason="needs readelf")
def test_the_library_depends_on_the_system_alone():
    text = subprocess.run(
        ["readelf", "-d", _C.__file__], capture_output=True, text=True, check=True
    ).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.+?)\]", text))
    known = {
        "libstdc++.so.6",
        "libgcc_s.so.1",
        "libm.so.6",
        "libc.so.6",
        "libpthread.so.0",
        "libdl.so.2",
    }
    assert {n for n in needed if not n.startswith(("ld-linux", "libasan", "libubsan"))} <= known
    assert set(re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.+?)\]", text)) <= {"$ORIGIN"}


@pytest.mark.skipif(FOLDER.is_relative_to(ROOT / "python"), reason="not an installed release")
def test_the_library_names_no_folder_of_the_machine():
    data = pathlib.Path(_C.__file__).read_bytes()
    assert str(ROOT).encode() not in data


@pytest.mark.skipif(not shutil.which("nm"), reason="needs nm")
def test_public_symbols():
    """Hidden by default: the module's one entry point, and what the C++ library makes weak."""
    text = subprocess.run(
        ["nm", "-D", "--defined-only", "-C", _C.__file__],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    strong = [line for line in text.splitlines() if " T " in line]
    assert [line.split(" T ")[1] for line in strong] == ["PyInit__C"]
