"""The rules of the source tree, read from the sources, so that nobody has to remember them.

CONTRIBUTING.md gives the reasons. A rule that is wrong is changed here, not worked around.
"""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPP = {".h", ".cpp", ".cu", ".cuh"}

# Which folders the files of a folder may include: always to the right, never back.
MAY_INCLUDE = {
    "csrc/bindings": {
        "csrc/bindings", "csrc/parallel", "csrc/ops", "csrc/autograd", "csrc/core", "csrc/devices",
        "kernels",
    },
    "csrc/parallel": {"csrc/parallel", "csrc/ops", "csrc/autograd", "csrc/core", "kernels"},
    "csrc/ops": {"csrc/ops", "csrc/autograd", "csrc/core", "kernels"},
    "csrc/autograd": {"csrc/autograd", "csrc/core", "kernels"},
    "csrc/devices": {"csrc/devices", "csrc/core", "kernels"},
    "csrc/core": {"csrc/core", "kernels"},
    "kernels/cpu": {"kernels/cpu", "kernels"},
    "kernels/cuda": {"kernels/cuda", "kernels"},
    "kernels": {"kernels"},
}  # fmt: skip
MACROS = {"HOST_DEVICE", "CLONES"}


def files(*folders, suffixes):
    found = [p for f in folders for p in (ROOT / f).rglob("*") if p.suffix in suffixes]
    return sorted(p for p in found if "__pycache__" not in p.parts)


def name(path):
    return path.relative_to(ROOT).as_posix()


def code_only(text):
    """C++ without comments and without the insides of literals."""
    pattern = r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda m: '""' if m[0][0] in '"R' else " ", text)


CPP_FILES = files("csrc", "kernels", suffixes=CPP)
SOURCES = [*CPP_FILES, *files("python", "tests", "notebooks", ".ci", suffixes={".py", *CPP})]
PYTHON_FILES = files("python", suffixes={".py"})


def folder_of(path):
    folder = "/".join(name(path).split("/")[:2])
    shared = path.parent == ROOT / "kernels" or folder in {"kernels/math", "kernels/pointwise"}
    return "kernels" if shared else folder


def resolve(path, target):
    """The file that an include with quotes names: from the root, csrc or the own folder."""
    for base in (ROOT, ROOT / "csrc", path.parent):
        if (base / target).is_file():
            return base / target
    raise AssertionError(f'{name(path)}: cannot find "{target}"')


@pytest.mark.parametrize("path", CPP_FILES, ids=name)
def test_includes_point_right(path):
    text = path.read_text()
    allowed = MAY_INCLUDE[folder_of(path)]
    for target in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
        included = folder_of(resolve(path, target))
        assert included in allowed, f"{folder_of(path)} may not include {included}: {target}"
    systems = re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.M)
    assert "omp.h" not in systems
    if folder_of(path) != "csrc/bindings":
        assert not [s for s in systems if s == "Python.h" or s.startswith("pybind11")]
    if folder_of(path) != "kernels/cuda":
        assert not [s for s in systems if s.startswith(("cuda", "cublas", "cudnn", "nccl"))]


def test_only_devices_know_the_kernel_tables():
    """Everything else asks backend(device)."""
    headers = files("kernels", suffixes={".h"})
    tables = {t for p in headers for t in re.findall(r"extern const \w+ (cpu_\w+);", p.read_text())}
    for path in files("csrc", suffixes=CPP):
        if folder_of(path) != "csrc/devices":
            used = tables & set(re.findall(r"\bcpu_\w+", code_only(path.read_text())))
            assert not used, f"{name(path)} uses {used} past backend()"


@pytest.mark.parametrize("path", CPP_FILES, ids=name)
def test_cpp_habits(path):
    text = path.read_text()
    code = code_only(text)
    assert text.startswith("//"), "begin with one to five lines: what the file holds"
    if path.suffix in {".h", ".cuh"}:
        assert "#pragma once" in text
    defined = set(re.findall(r"^\s*#\s*define\s+(\w+)", code, re.M))
    assert defined <= MACROS, f"a macro of its own: {defined - MACROS}"
    assert not re.search(r"#\s*pragma\s+omp", code)
    names = set(re.findall(r"\b[A-Za-z_]\w*\b", code))
    assert not {n for n in names if "torch" in n.lower()}, "other libraries look for this word"
    types = set(re.findall(r"\b(?:class|struct|namespace|concept)\s+(\w+)", code))
    assert not {t for t in types if re.search(r"Impl$|Helper|Util|Manager", t)}


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_every_source(path):
    text = path.read_text()
    lines = text.splitlines()
    assert len(lines) <= 500, "split it by topic"
    assert not re.search(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b", text)
    assert not re.search(r"/(?:wo" r"rk|ho" r"me|ro" r"ot)/", text), "a path of somebody's machine"
    if path.suffix != ".py":
        assert max(map(len, lines), default=0) <= 100
    elif lines and path.name != "_version.py":
        assert lines[0].startswith(('"""', 'r"""', "#")), "begin by saying what the file holds"


def test_build_flags():
    text = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "pyproject.toml").read_text()
    for flag in ("-march=native", "-ffast-math", "-fopenmp", "OpenMP"):
        assert flag not in text


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name)
def test_python_imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module]
        else:
            continue
        for module in modules:
            assert module.split(".")[0] not in {"torch", "torchvision"}, f"line {node.lineno}"
