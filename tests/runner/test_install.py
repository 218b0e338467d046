"""`rushlight install` chooses with pip's resolver and leaves torch out; the plugin of pytest."""

import subprocess
import sys
import zipfile
from importlib.metadata import distributions

import pytest

# not find_spec("pip"), which has setuptools replace distutils
HAS_PIP = any(d.metadata["Name"] == "pip" for d in distributions())
needs_pip = pytest.mark.skipif(not HAS_PIP, reason="needs pip")


def write_wheel(folder, name, version, needs=()):
    info = f"{name}-{version}.dist-info"
    lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"]
    lines += [f"Requires-Dist: {need}\n" for need in needs]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", f"version = {version!r}\n")
        file.writestr(f"{info}/METADATA", "".join(lines))
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path):
    """A folder of packages, torch among them, and where to install."""
    (tmp_path / "wheels").mkdir()
    for name, version, needs in (
        ("torch", "2.13.0", ["gigabytes"]),
        ("torchvision", "0.28.0", ["torch"]),
        ("gigabytes", "1", []),
        ("numpy", "99", []),
        ("pillow", "99", []),
        ("jinja2", "99", []),
        ("typing_extensions", "99", []),
        ("helper", "1.0", []),
        ("helper", "2.0", []),
        ("layers", "3.1", ["torch>=2.5", "helper<2", "torchvision"]),
        ("ancient", "1.0", ["torch<2"]),
    ):
        write_wheel(tmp_path / "wheels", name, version, needs)
    return tmp_path


def install(index, *packages):
    command = [sys.executable, "-m", "rushlight", "install", *packages, "--no-index"]
    options = ["--find-links", str(index / "wheels"), "--target", str(index / "there")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300)
    return done, sorted(path.stem for path in (index / "there").glob("*.py"))


@needs_pip
def test_what_a_library_needs_less_torch(index):
    done, there = install(index, "layers")
    assert done.returncode == 0, done.stderr
    assert there == ["helper", "jinja2", "layers", "numpy", "pillow", "typing_extensions"]
    assert (index / "there/helper.py").read_text() == "version = '1.0'\n"
    assert "left out torch, torchvision and what they would bring" in done.stdout


@needs_pip
def test_torch_itself_is_not_installed(index):
    done, there = install(index, "torch", "helper")
    assert done.returncode == 2 and not there
    assert "rushlight: torch itself is not installed" in done.stderr


@needs_pip
def test_a_library_for_another_torch_is_refused_by_pip(index):
    done, there = install(index, "ancient")
    assert done.returncode == 1 and not there
    assert "ancient 1.0 depends on torch<2" in done.stdout


def test_the_plugin_of_pytest(tmp_path):
    (tmp_path / "conftest.py").write_text("import torch\n")
    (tmp_path / "test_a.py").write_text(
        "import rushlight, torch\ndef test(): assert torch.nn is rushlight.nn\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "rushlight.pytest"]
    options = ["-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
