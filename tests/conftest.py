"""What all tests share: the devices they run on, torch as the reference, and doctest's names.

RUSHLIGHT_PARITY=1 (CI's parity stage) turns "torch is not installed" from a skip into a failure.
"""

import os
import pathlib
import signal
import warnings

import hypothesis
import pytest

import rushlight

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started as a background job: the children that tests interrupt would ignore Ctrl-C too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile(
    "default", deadline=None, max_examples=60, derandomize=True, database=None
)
hypothesis.settings.register_profile(
    "thorough", deadline=None, max_examples=1000, print_blob=True, database=None
)
hypothesis.settings.load_profile(os.environ.get("RUSHLIGHT_HYPOTHESIS", "default"))


def pytest_report_header(config):
    return f"rushlight {rushlight.__version__} from {os.path.dirname(rushlight.__file__)}"


# The provider of real GPUs serves "cuda": the emulated one where RUSHLIGHT_CUDA_LIBRARY names it,
# a GPU where RUSHLIGHT_TEST_GPU=1. The tests of `device` then run there alone.
EMULATED = "emulated" in os.environ.get("RUSHLIGHT_CUDA_LIBRARY", "")
REAL = EMULATED or bool(os.environ.get("RUSHLIGHT_TEST_GPU"))

if EMULATED:  # what stands in for NVIDIA's libraries lies beside it; "none" goes without
    for _file in pathlib.Path(os.environ["RUSHLIGHT_CUDA_LIBRARY"]).parent.glob("libemulated_*.so"):
        _name = _file.stem.removeprefix("libemulated_").upper()
        os.environ.setdefault(f"RUSHLIGHT_{_name}_LIBRARY", str(_file))


def devices():
    if not REAL:
        return ["cpu", "cuda:1"]
    return ["cuda:1" if rushlight.cuda.device_count() > 1 else "cuda:0"]


def pytest_collection_modifyitems(config, items):
    """On the emulated provider, what asks for no device would run nothing of it."""
    if not EMULATED:
        return
    serves, rest = [], []
    for item in items:
        uses = "device" in item.fixturenames or "devices" in item.path.parts
        (serves if uses else rest).append(item)
    config.hook.pytest_deselected(items=rest)
    items[:] = serves


@pytest.fixture(params=devices())
def device(request):
    """Each device in turn; the GPU is virtual, and not the current one, so that nothing can fall
    back to device 0 unnoticed."""
    if request.param == "cpu" or REAL:
        yield request.param
    else:
        with rushlight.cuda.virtual(2):
            yield request.param


@pytest.fixture
def virtual_gpus():
    """Four virtual GPUs for the length of a test."""
    with rushlight.cuda.virtual(4):
        yield rushlight.cuda


def load_reference():
    """torch itself, one thread, warnings of its own import silenced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if os.environ.get("RUSHLIGHT_PARITY"):
            import torch
        else:
            torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return torch


@pytest.fixture(scope="session")
def reference():
    """torch 2.13, the judge of values, dtypes, shapes and words; skips where it is absent."""
    return load_reference()


@pytest.fixture(autouse=True)
def untouched_defaults():
    """A test that changes a default puts it back, and the numbers drawn do not depend on order."""
    rushlight.manual_seed(0)
    dtype, grad = rushlight.get_default_dtype(), rushlight.is_grad_enabled()
    yield
    assert rushlight.get_default_dtype() == dtype, "the test left another default dtype behind"
    assert rushlight.is_grad_enabled() == grad, "the test left another grad mode behind"
