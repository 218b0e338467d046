# Where NVIDIA's libraries are, for the CUDA provider: cuda-pathfinder finds wheels, conda and the
# system. Imported when the first of them is needed, and never before.
import importlib


def find(name: str) -> "tuple[bool, str]":
    """(True, the path of the library) or (False, why it was not found); `name` as in "cublasLt"."""
    try:
        pathfinder = importlib.import_module("cuda.pathfinder")
    except ImportError:
        return False, "not installed"
    try:
        path = pathfinder.load_nvidia_dynamic_lib(name).abs_path
    except Exception as error:  # whatever it raises, there is another way
        return False, " ".join(str(error).split()) or type(error).__name__
    return (True, path) if path else (False, "found, but not its path")


def required(title: str, asker: str) -> int:
    """The version of a library that `asker` cannot do without; 0 on virtual GPUs, which need none.

    Raises:
        RuntimeError: where it is absent.
    """
    from . import _C

    for name, version, details in _C._cuda_libraries():
        if name == title and version == 0:
            raise RuntimeError(f"{asker} needs {title}, which is absent\n{details}")
        if name == title:
            return version
    return 0


def version_text(version: int) -> str:
    """130200 as "13.2.0"."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"
