# `rushlight info`: what a bug report should say.
import os
import platform
import sys

from .._cuda_libraries import version_text
from .._version import __version__


def rows():
    """(title, text) of every line."""
    from .. import _C, backends, cuda

    yield "rushlight", f"{__version__}, {os.path.dirname(os.path.dirname(__file__))}"
    yield "Python", f"{platform.python_version()}, {sys.executable}"
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "threads", f"{_C.get_num_threads()} of {os.cpu_count()} processors"
    yield "instruction set", backends.cpu.get_cpu_capability()
    yield "matrix products", _C._matmul_library()
    real = os.path.exists(os.path.join(os.path.dirname(_C.__file__), "librushlight_cuda.so"))
    yield "library CUDA", "in the package" if real else "absent: built without nvcc 13"
    for name in ("numpy", "PIL", "tensorboardX", "tensorboard", "ipykernel"):
        yield f"library {name}", installed(name)
    if not cuda.is_available():
        first, *rest = _C._cuda.why_not().splitlines() or [""]
        yield "CUDA", first
        for line in rest:
            yield "", line
        return
    yield "CUDA", f"{_C._cuda.provider()}, {cuda.device_count()} visible"
    for index in range(cuda.device_count()):
        p = cuda.get_device_properties(index)
        memory = p.total_memory / (1 << 30)
        yield (
            f"  cuda:{index}",
            f"{p.name}, {memory:.1f} GiB, capability {p.major}.{p.minor}, "
            f"{p.multi_processor_count} multiprocessors",
        )
        if source := _C._cuda.memory_source(index):
            yield "", f"memory by {source}"
    if missing := _C._cuda.why_not_more():
        yield "", missing
    for name, version, details in _C._cuda_libraries():
        first, *rest = details.splitlines()
        there = version_text(version) if version else "absent"
        yield f"library {name}", f"{there}{',' if version else ':'} {first}"
        for line in rest:
            yield "", line
    if "virtual" in _C._cuda.provider():
        yield "", "virtual GPUs compute on the CPU: they are for logic, not for speed"


def installed(module: str) -> str:
    """The version of a library, found without importing it."""
    import importlib.metadata

    name = {"PIL": "Pillow"}.get(module, module)
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def print_info() -> None:
    try:
        for title, text in rows():
            print(f"{title:<20} {text}".rstrip())
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
