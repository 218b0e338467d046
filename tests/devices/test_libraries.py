"""NVIDIA's libraries: how they are looked for, what is said of them, what goes through them, and
the switches of how exact they are. On the emulated provider tests/emulator/libraries stands in.
"""

import os
import pathlib
import shutil
import sys

import pytest

import rushlight as torch
from rushlight import _cuda_libraries
from tests.devices.stand_ins import stand_in
from tests.devices.test_provider import run

emulated = pytest.mark.emulated
SAY = "import rushlight as torch; print(torch._C._cuda_libraries())"


def stand_in_path():
    return pathlib.Path(os.environ["RUSHLIGHT_CUDA_LIBRARY"]).parent / "libemulated_cublaslt.so"


def of_cublaslt(**environment):
    """(version, words) in a process with this environment."""
    return next(row for row in eval(run(SAY, **environment)) if row[0] == "cuBLASLt")[1:]


def test_precision_is_one_switch():
    matmul = torch.backends.cuda.matmul
    assert not matmul.allow_tf32 and torch.get_float32_matmul_precision() == "highest"
    try:
        torch.set_float32_matmul_precision("medium")
        assert matmul.allow_tf32 and matmul.fp32_precision == "tf32"
        assert torch.get_float32_matmul_precision() == "medium"
        matmul.allow_tf32 = False
        assert torch.get_float32_matmul_precision() == "highest"
        matmul.fp32_precision = "tf32"
        assert matmul.allow_tf32 and torch.get_float32_matmul_precision() == "medium"
        with pytest.raises(RuntimeError):
            torch.set_float32_matmul_precision("exact")
        with pytest.raises(AttributeError):
            matmul.allow_anything = True
    finally:
        matmul.allow_tf32 = False


def test_switches_of_cudnn_reach_the_provider():
    cudnn = torch.backends.cudnn
    of = torch._C._get_switch
    assert of("cudnn_enabled") and of("tf32_convolutions") and not of("cudnn_benchmark")
    with cudnn.flags(enabled=False, deterministic=True, benchmark=True, allow_tf32=False):
        assert not of("cudnn_enabled") and not of("tf32_convolutions")
        assert of("cudnn_benchmark") and of("cudnn_deterministic")
    cudnn.benchmark = True
    assert of("cudnn_benchmark")
    cudnn.benchmark = False
    assert not of("cudnn_benchmark") and of("cudnn_enabled") and not of("cudnn_deterministic")
    with pytest.raises(ValueError, match="no switch is called"):
        of("speed")


def pathfinder(folder, body):
    """A package of cuda-pathfinder's name whose search is `body`."""
    package = folder / "cuda" / "pathfinder"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        f"class Found: abs_path = None\ndef load_nvidia_dynamic_lib(name):\n    {body}\n"
    )
    return str(folder)


def test_what_pathfinder_says(tmp_path, monkeypatch):
    def find(body):
        folder = pathfinder(tmp_path / str(len(list(tmp_path.iterdir()))), body)
        with monkeypatch.context() as changed:
            changed.syspath_prepend(folder)
            for name in ("cuda", "cuda.pathfinder"):
                changed.delitem(sys.modules, name, raising=False)
            try:
                return _cuda_libraries.find("cublasLt")
            finally:
                for name in ("cuda", "cuda.pathfinder"):
                    sys.modules.pop(name, None)

    found = "f = Found(); f.abs_path = '/there/' + name; return f"
    assert find(found) == (True, "/there/cublasLt")
    assert find("raise RuntimeError('not\\n there')") == (False, "not there")
    assert find("return Found()") == (False, "found, but not its path")
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)
    assert _cuda_libraries.find("cublasLt") == (False, "not installed")


@emulated
def test_a_library_is_named_or_switched_off(tmp_path):
    assert of_cublaslt() == (130200, os.environ["RUSHLIGHT_CUBLASLT_LIBRARY"]) or (
        os.environ["RUSHLIGHT_CUBLASLT_LIBRARY"] == "none"
    )
    variable = "RUSHLIGHT_CUBLASLT_LIBRARY"
    assert of_cublaslt(**{variable: "none"}) == (0, f"switched off by {variable}=none")
    version, words = of_cublaslt(**{variable: str(tmp_path / "absent.so")})
    assert version == 0 and words.startswith(variable) and "absent.so" in words
    version, words = of_cublaslt(**{variable: os.environ["RUSHLIGHT_CUDA_LIBRARY"]})
    assert version == 0 and "has no function cublasLtGetVersion" in words
    old = {"RUSHLIGHT_EMULATED_LIBRARY_VERSION": "120905", variable: str(stand_in_path())}
    version, words = of_cublaslt(**old)
    assert version == 0 and "is version 12.9.5, and 13.0.0 is the oldest" in words
    assert "pip install --upgrade nvidia-cublas" in words


@emulated
def test_the_order_of_search(tmp_path):
    def at(name):
        folder = tmp_path / name
        folder.mkdir()
        return shutil.copy(stand_in_path(), folder / "libcublasLt.so.13")

    nothing = {"RUSHLIGHT_CUBLASLT_LIBRARY": ""}
    python = os.environ.get("PYTHONPATH", "")
    version, words = of_cublaslt(**nothing)
    if version == 0:  # this machine has none
        for part in ("libcublasLt.so.13", "cuda-pathfinder", "pip install", "system's loader"):
            assert part in words
    system = {**nothing, "LD_LIBRARY_PATH": str(at("system").parent)}
    if version == 0:
        assert of_cublaslt(**system) == (130200, str(tmp_path / "system/libcublasLt.so.13"))
    body = f"f = Found(); f.abs_path = {str(at('wheel'))!r}; return f"
    system["PYTHONPATH"] = pathfinder(tmp_path, body) + os.pathsep + python
    assert of_cublaslt(**system) == (130200, str(tmp_path / "wheel/libcublasLt.so.13"))
    there = run(f"import ctypes; it = ctypes.CDLL({str(at('process'))!r}); {SAY}", **system)
    assert str(tmp_path / "process/libcublasLt.so.13") in there


@emulated
def test_what_cudnn_looks_for_by_itself_is_loaded_first(tmp_path):
    log = tmp_path / "asked"
    body = f"open({str(log)!r}, 'a').write(name + ' '); raise RuntimeError('no')"
    python = pathfinder(tmp_path, body) + os.pathsep + os.environ.get("PYTHONPATH", "")
    run(SAY, RUSHLIGHT_CUDNN_LIBRARY="", RUSHLIGHT_CUBLASLT_LIBRARY="none", PYTHONPATH=python)
    assert log.read_text() == "cublasLt nvrtc cudnn "


@emulated
def test_info_names_each_library():
    text = run("from rushlight.__main__ import main; import sys; sys.argv[1:] = ['info']; main()")
    assert "library cuBLASLt" in text
    gone = run(
        "from rushlight.__main__ import main; import sys; sys.argv[1:] = ['info']; main()",
        RUSHLIGHT_CUBLASLT_LIBRARY="none",
    )
    assert "absent: switched off" in gone


@emulated
def test_products_go_through_it():
    library = stand_in("cuBLASLt")
    a, b = torch.randn(5, 7), torch.randn(7, 3)
    on = [t.to("cuda:1") for t in (a, b)]
    before = library.emulated_products()
    assert torch.allclose((on[0] @ on[1]).cpu(), a @ b, atol=1e-6)
    assert library.emulated_products() == before + 1
    (on[0].long() @ on[1].long()).sum().item()  # whole numbers are ours
    assert library.emulated_products() == before + 1


@emulated
def test_what_it_has_nothing_for_is_ours():
    library = stand_in("cuBLASLt")
    a, b = torch.randn(4, 11), torch.randn(11, 13)
    before, refused = library.emulated_products(), library.emulated_refused()
    library.emulated_refuse(1)
    try:
        for _ in range(2):  # the second asks no more
            assert torch.allclose((a.to("cuda:1") @ b.to("cuda:1")).cpu(), a @ b, atol=1e-5)
    finally:
        library.emulated_refuse(0)
    assert library.emulated_products() == before
    assert library.emulated_refused() == refused + 1


@emulated
def test_precision_reaches_the_products():
    library = stand_in("cuBLASLt")
    x = torch.randn(3, 3, device="cuda:1")

    def compute(t):
        (t @ t).sum().item()
        return library.emulated_compute()

    exact, double = compute(x), compute(x.double())
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        assert compute(x) not in (exact, double)
        assert compute(x.double()) == double and compute(x.half()) == exact
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False
    assert compute(x) == exact and compute(x.bfloat16()) == exact


@emulated
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_a_bias_is_added_in_the_same_kernel(dtype):
    library = stand_in("cuBLASLt")
    x, w, b = (torch.randn(*s).to(getattr(torch, dtype)) for s in ((6, 5), (4, 5), (4,)))
    expected = torch.nn.functional.linear(x.double(), w.double(), b.double())
    before, biased = library.emulated_products(), library.emulated_biased()
    out = torch.nn.functional.linear(*(t.to("cuda:1") for t in (x, w, b)))
    assert library.emulated_products() == before + 1 and library.emulated_biased() == biased + 1
    tolerance = {"float16": 2e-2, "bfloat16": 1e-1}.get(dtype, 1e-5)
    assert torch.allclose(out.cpu().double(), expected, atol=tolerance)
    strided = torch.randn(8).to(x.dtype)[::2]  # such a bias is not for it
    out = torch.nn.functional.linear(x.to("cuda:1"), w.to("cuda:1"), strided.to("cuda:1")[:])
    assert torch.allclose(out.cpu(), torch.nn.functional.linear(x, w, strided), atol=tolerance)


@emulated
def test_more_shapes_than_are_remembered():
    library = stand_in("cuBLASLt")
    before = library.emulated_products()
    ones = torch.ones(40, 40, device="cuda:1")
    for _ in range(2):
        for rows in range(1, 34):
            for columns in range(1, 34):
                product = ones[:rows, :2] @ ones[:2, :columns]
    assert product.shape == (33, 33) and product.sum().item() == 2 * 33 * 33
    assert library.emulated_products() == before + 2 * 33 * 33
