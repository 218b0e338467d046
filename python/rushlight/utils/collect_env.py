"""What a report of a fault should say of the machine: `python -m torch.utils.collect_env`."""

import os
import platform
import sys
from collections import namedtuple

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main"]

SystemEnv = namedtuple(
    "SystemEnv",
    "torch_version is_debug_build cuda_compiled_version gcc_version clang_version cmake_version os "
    "libc_version python_version python_platform is_cuda_available cuda_runtime_version "
    "cuda_module_loading nvidia_driver_version nvidia_gpu_models cudnn_version is_xpu_available "
    "pip_version pip_packages conda_packages hip_compiled_version hip_runtime_version "
    "miopen_runtime_version caching_allocator_config is_xnnpack_available cpu_info",
)
_LIBRARIES = (
    "lightning mypy numpy nvidia onnx optree pytorch rushlight torch transformers triton"
).split()


def _gpus():
    from rushlight import cuda

    names = [cuda.get_device_name(i) for i in range(cuda.device_count())]
    return "\n".join(f"GPU {i}: {name}" for i, name in enumerate(names)) or "No CUDA"


def _cpu():
    lines = [f"Architecture: {platform.machine()}", f"CPU(s): {os.cpu_count()}"]
    try:
        with open("/proc/cpuinfo", encoding="utf8", errors="replace") as file:
            lines += [line.strip() for line in file if line.startswith("model name")][:1]
    except OSError:
        pass  # not Linux
    return "\n".join(lines)


def _packages():
    import importlib.metadata

    found = {
        (each.metadata["Name"] or "", each.version) for each in importlib.metadata.distributions()
    }
    wanted = [each for each in found if each[0].lower().startswith(tuple(_LIBRARIES))]
    return "\n".join(f"[pip3] {name}=={version}" for name, version in sorted(wanted))


def get_env_info():
    """The versions and devices of this process, a SystemEnv."""
    import rushlight
    from rushlight import cuda, version

    bits = sys.maxsize.bit_length() + 1
    known = {
        "torch_version": rushlight.__version__,
        "is_debug_build": "False",
        "cuda_compiled_version": version.cuda,
        "os": f"{platform.system()} {platform.release()} ({platform.machine()})",
        "libc_version": "-".join(platform.libc_ver()),
        "python_version": f"{sys.version} ({bits}-bit runtime)".replace("\n", " "),
        "python_platform": platform.platform(),
        "is_cuda_available": str(cuda.is_available()),
        "nvidia_gpu_models": _gpus(),
        "cudnn_version": str(rushlight.backends.cudnn.version()),
        "is_xpu_available": "False",
        "pip_version": "pip3",
        "pip_packages": _packages(),
        "is_xnnpack_available": "False",
        "cpu_info": _cpu(),
    }
    return SystemEnv(**{**dict.fromkeys(SystemEnv._fields, "N/A"), **known})


def get_pretty_env_info():
    """The same as text, one line or paragraph for each."""
    info = get_env_info()._asdict()
    blocks = ("nvidia_gpu_models", "pip_packages", "cpu_info")
    lines = [f"{name.replace('_', ' ')}: {info[name]}" for name in info if name not in blocks]
    lines += [f"\n{name.replace('_', ' ')}:\n{info[name]}" for name in blocks]
    return "\n".join(lines)


def main():
    """Prints it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
