# Switches of NVIDIA's profilers. None looks at virtual GPUs, and a real one is switched by its own
# tools; so they do nothing here.
from contextlib import contextmanager


def init(output_file, flags=None, output_mode="key_value") -> None:
    """Refuses, as CUDA itself does by now.

    >>> torch.cuda.profiler.init("file")
    Traceback (most recent call last):
    AssertionError: cudaProfilerInitialize is no longer supported by CUDA
    """
    raise AssertionError("cudaProfilerInitialize is no longer supported by CUDA")


def start() -> int:
    """Begins what a profiler of NVIDIA's records; returns 0.

    >>> torch.cuda.profiler.start()
    0
    """
    return 0


def stop() -> int:
    """Ends it; returns 0.

    >>> torch.cuda.profiler.stop()
    0
    """
    return 0


@contextmanager
def profile():
    """Context for what a profiler of NVIDIA's records.

    >>> with torch.cuda.profiler.profile():
    ...     _ = torch.ones(2)
    """
    start()
    try:
        yield
    finally:
        stop()
