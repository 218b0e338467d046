"""The steps of tests/gpu/run.sh, in the order they run: those that tell most come first."""

import importlib.metadata
import os
import shutil
import subprocess
from typing import NamedTuple

from tests.gpu import ROOT, SHIPPED

OPS = ["pointwise", "broadcast", "reduce", "scan", "sort", "loss", "norm", "pool", "conv", "matmul",
       "index", "scatter", "long_lines", "long_runs", "linalg"]  # fmt: skip
KERNEL_TESTS = [f"tests/ops/test_{name}.py" for name in OPS]
LIBRARY_TESTS = [f"tests/ops/test_{name}.py" for name in ("matmul", "conv", "linalg")]
DEVICES = ("provider", "libraries", "cudnn", "cusolver", "nccl", "nccl_group", "comm", "runtime")
DEVICE_TESTS = [f"tests/devices/test_{name}.py" for name in DEVICES]
PROGRAMS = sorted((ROOT / "tests/documents/programs").glob("???.py"))
LIBRARIES = ("CUBLASLT", "CUDNN", "CUSOLVER")
JUDGE = "2.13"  # the torch whose answers the tests are about


class Step(NamedTuple):
    name: str
    command: list
    environment: dict
    limit: int  # seconds
    shown: bool = False  # its output is part of the report


def build_steps(work, python):
    """The core and the library by one call, for the GPU that is there."""
    pybind = subprocess.run(
        [python, "-m", "pybind11", "--cmakedir"], capture_output=True, text=True, check=False
    ).stdout.strip()
    yield Step("configure", [
        "cmake", "-S", str(ROOT), "-B", str(work / "cmake"), "-G", "Ninja",
        "-DCMAKE_BUILD_TYPE=Release", "-DRUSHLIGHT_CUDA=ON", "-DRUSHLIGHT_CUDA_ARCHS=native",
        "-DRUSHLIGHT_IN_PLACE=ON", "-DRUSHLIGHT_WERROR=OFF", f"-DPython_EXECUTABLE={python}",
        f"-Dpybind11_DIR={pybind}",
    ], {}, 60)  # fmt: skip
    yield Step("build", ["cmake", "--build", str(work / "cmake")], {}, 240)


def judge():
    """Another torch than the tests' is a peer of timings only: the recorded answers judge then."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return {}  # they do anyway
    return {} if version.startswith(JUDGE) else {"RUSHLIGHT_REPLAY": "1"}


def sanitizer_steps(python, on_gpu):
    if not shutil.which("compute-sanitizer"):
        return
    environment = {**on_gpu, "RUSHLIGHT_NO_CACHE": "1"}
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", python, "-m"]
        yield Step(f"compute-sanitizer {tool}", [*command, "tests.gpu.kernels"], environment, 60)


def steps(work, python):
    """A library that RUSHLIGHT_CUDA_LIBRARY names is taken as it is, with the core that lies in
    python/rushlight; else both are built."""
    built = work / "cmake" / "librushlight_cuda.so"
    library = os.environ.get("RUSHLIGHT_CUDA_LIBRARY") or built
    on_gpu = {
        "RUSHLIGHT_TEST_GPU": "1",
        "RUSHLIGHT_CUDA_LIBRARY": str(library),
        "PYTHONPATH": str(ROOT / "python"),
        "OMP_NUM_THREADS": "4",
        **judge(),
    }
    blocking = {**on_gpu, "RUSHLIGHT_LAUNCH_BLOCKING": "1"}
    shipped = {**on_gpu, **SHIPPED}

    def module(name, *arguments):
        return [python, "-m", f"tests.{name}", *arguments]

    def files(*names):
        return module("gpu.each_file", *names)

    if library == built:
        yield from build_steps(work, python)
    yield Step("what is there", [python, "-m", "rushlight", "info"], on_gpu, 60, True)
    yield Step("first look", module("gpu", "--quick", str(work)), on_gpu, 120, True)
    stress = module("gpu.stress", "--rounds")
    yield Step("two streams", [*stress, "300"], shipped, 40, True)
    yield Step("two streams, six threads", [*stress, "60", "--threads", "6"], shipped, 40, True)
    without = [*stress, "300", "--without-record-stream"]
    yield Step("two streams without record_stream", without, shipped, 40, True)
    yield Step("memory after 1000 steps", module("gpu.memory_growth"), shipped, 60, True)
    launches = module("gpu.launches", str(work / "launches.json"))
    yield Step("kernels per training step", launches, shipped, 60, True)
    yield Step(
        "ops as they ship: asynchronous, pooled", files("tests/ops", "tests/optim"), shipped,
        150, True,
    )  # fmt: skip
    yield Step("kernels, blocking launches", files(*KERNEL_TESTS), blocking, 90, True)
    alone = {f"RUSHLIGHT_{name}_LIBRARY": "none" for name in LIBRARIES}
    yield Step(
        "without cuBLASLt, cuDNN, cuSOLVER", files(*LIBRARY_TESTS), {**blocking, **alone}, 60,
        True,
    )  # fmt: skip
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    yield Step("devices, with 50 bad indices", [*pytest, *DEVICE_TESTS], on_gpu, 60)
    samples = module("oracle", "--device", "cuda", "--limit", "3", "--failed")
    yield Step("torch's samples of operations", samples, blocking, 120)
    yield Step("torch's samples of modules", [*samples, "--modules"], blocking, 60)
    for program in PROGRAMS:
        run = [python, "-m", "rushlight", "run", str(program)]
        yield Step(f"document {program.stem}", run, on_gpu, 40)
    yield Step("notebooks", module("gpu.notebooks"), on_gpu, 90)
    yield from sanitizer_steps(python, on_gpu)
    yield Step("benchmark", module("gpu.benchmark", str(work / "timings.json")), on_gpu, 90)
