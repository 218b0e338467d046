"""The CUDA of tests: see cuda_runtime.h; bugs.py tries the suite."""

import ctypes
import os
import pathlib

# Whether RUSHLIGHT_CUDA_LIBRARY names the emulated library.
EMULATED = "emulated" in os.environ.get("RUSHLIGHT_CUDA_LIBRARY", "")


def name_libraries():
    """Names what stands in for NVIDIA's libraries, which lies beside it; "none" goes without."""
    if not EMULATED:
        return
    for file in pathlib.Path(os.environ["RUSHLIGHT_CUDA_LIBRARY"]).parent.glob("libemulated_*.so"):
        name = file.stem.removeprefix("libemulated_").upper()
        os.environ.setdefault(f"RUSHLIGHT_{name}_LIBRARY", str(file))


def counted(name):
    """What the emulator has counted: events, pinnings, launches, library_calls, copies, waits."""
    function = getattr(ctypes.CDLL(os.environ["RUSHLIGHT_CUDA_LIBRARY"]), f"emulated_{name}")
    function.restype = ctypes.c_int64
    return function()
