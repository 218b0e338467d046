"""What all tests share: the devices they run on, and torch as the reference (recorded.py).

Without torch, its recorded answers judge (recorded.py); CI's parity stage checks them.
"""

import functools
import gc
import importlib.util
import json
import os
import signal
import sys
import warnings

import hypothesis
import pytest

import rushlight
from tests import quick_torch, recorded
from tests.distributed import engines
from tests.emulator import EMULATED, name_libraries

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


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected, thirty thousand tests, is no garbage: it is never searched for any."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_report_header(config):
    return f"rushlight {rushlight.__version__} from {os.path.dirname(rushlight.__file__)}"


# The provider of real GPUs serves "cuda": the emulated one where RUSHLIGHT_CUDA_LIBRARY names it,
# a GPU where RUSHLIGHT_TEST_GPU=1. The tests of `device` then run there alone.
REAL = EMULATED or bool(os.environ.get("RUSHLIGHT_TEST_GPU"))
name_libraries()


def pytest_configure(config):
    config.addinivalue_line("markers", "provider: collected where there is a provider of real GPUs")
    config.addinivalue_line(
        "markers", "emulated: collected where that provider is the emulated one"
    )
    config.addinivalue_line("markers", "gloo: collected where the package xoscar has Gloo")
    config.addinivalue_line("markers", "mpi: collected where mpi4py, an MPI and Gloo are")


def devices():
    if not REAL:
        return ["cpu", "cuda:1"]
    return ["cuda:1" if rushlight.cuda.device_count() > 1 else "cuda:0"]


def pytest_collection_modifyitems(config, items):
    """On the emulated provider, what asks for no device would run nothing of it; where torch's
    answers are checked, so is what could not be collected without the packages that are there now,
    but not what asks torch nothing, or the same on another device."""
    if JUDGE == "check":
        _keep(config, items, lambda i: asks_torch(i) or _engine_of(i))
        _keep(config, items, lambda i: not recorded.repeats(i.path, _name_of(i)))
        if part := os.environ.get("RUSHLIGHT_RECORD_DUE"):
            _keep(config, items, lambda i: only_with_torch(i) or is_due(i.path, part))
    here = {"provider": REAL, "emulated": EMULATED, "gloo": engines.GLOO, "mpi": engines.MPI}
    for marker, is_here in here.items():
        if not is_here:
            _keep(config, items, lambda i, marker=marker: not i.get_closest_marker(marker))
    if not EMULATED:
        return
    _keep(config, items, lambda i: "device" in i.fixturenames or "devices" in i.path.parts)


# One real GPU has the name of the second, as torch's recorded answers know these tests.
@pytest.fixture(params=devices(), ids=["cuda:1"] if REAL else None)
def device(request):
    """Each device in turn; the GPU is virtual, and not the current one, so that nothing can fall
    back to device 0 unnoticed."""
    if request.param == "cpu" or REAL:
        yield request.param
    else:
        with rushlight.cuda.virtual(2):
            yield request.param


@pytest.fixture
def on_device(device):
    """The device, which new tensors are made on, too."""
    with rushlight.device(device):
        yield device


@pytest.fixture
def virtual_gpus():
    """Four virtual GPUs for the length of a test."""
    with rushlight.cuda.virtual(4):
        yield rushlight.cuda


# How torch judges: "torch" itself; "write" and "check" with a tape between (tests/record.py);
# "replay", where it is not installed (or RUSHLIGHT_REPLAY=1), has the tapes alone.
JUDGE = os.environ.get("RUSHLIGHT_RECORD") or (
    "torch"
    if importlib.util.find_spec("torch") and not os.environ.get("RUSHLIGHT_REPLAY")
    else "replay"
)
if JUDGE == "replay":  # torch's own samples, and what reads torch's own files
    collect_ignore = ["oracle"]


class NoTorch:
    """Where torch is installed, a test that imports it unnoticed must fail all the same."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


if JUDGE == "replay" and importlib.util.find_spec("torch"):
    sys.meta_path.insert(0, NoTorch)


def load_torch():
    """torch itself, one thread, warnings of its own import silenced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
    torch.set_num_threads(1)
    quick_torch.seed_present_devices()
    return torch


def load_reference():
    """torch, or its recorded answers."""
    if JUDGE == "replay":
        return recorded.Object()
    torch = load_torch()
    return torch if JUDGE == "torch" else recorded.Object(torch)


def ask(function):
    """function(torch), as one question: what defines classes, or functions that torch calls."""
    torch = load_reference()
    with warnings.catch_warnings():  # of a module that torch imports when it first needs it
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
        if JUDGE == "torch":
            return function(torch)
        return recorded.TAPE.ask("ask", lambda: function(recorded.real(torch)))


@pytest.fixture(scope="session")
def reference():
    """torch 2.13, the judge of values, dtypes, shapes and words: itself, or what it answered."""
    return load_reference()


@pytest.fixture(scope="session")
def peer():
    """torch 2.13 itself, for tests that need more than answers; skips where it is absent."""
    if JUDGE == "replay":
        pytest.skip("needs torch itself")
    return load_torch()


def _between_tests():
    """What modules ask while they are imported is not recorded: torch itself answers it."""
    recorded.TAPE.begin(False, None)
    recorded.TAPE.inside = JUDGE != "replay"


_between_tests()
_passed = {}  # file -> what this run recorded of it
_lost = []  # the tests whose questions could not be recorded


@functools.cache
def is_due(path, part):
    return recorded.changed(path) or recorded.in_part(path, part)


def only_with_torch(item):
    """Whether the stage `tests` cannot run it: it needs torch itself, or an engine beside it."""
    return "peer" in item.fixturenames or "oracle" in item.path.parts or _engine_of(item)


def asks_torch(item):
    names = vars(item.module).values()
    return (
        {"reference", "peer"} & set(item.fixturenames)
        or "oracle" in item.path.parts
        or any(isinstance(v, recorded.Object) or v is ask for v in names)
        or any(getattr(v, "__name__", None) == "torch" for v in names)
    )


def _engine_of(item):
    return item.get_closest_marker("gloo") or item.get_closest_marker("mpi")


def _keep(config, items, wanted):
    rest = [item for item in items if not wanted(item)]
    config.hook.pytest_deselected(items=rest)
    items[:] = [item for item in items if wanted(item)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    records = JUDGE in ("write", "check")
    item.tape = [] if records else recorded.load(item.path).get(_name_of(item))
    recorded.TAPE.begin(records, item.tape)
    result = yield
    _between_tests()
    return result


def _name_of(item):
    return item.nodeid.partition("::")[2]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if JUDGE not in ("write", "check"):
        return report
    item.passed = not report.failed and getattr(item, "passed", True)
    if report.when != "teardown":
        return report
    name = _name_of(item)
    if JUDGE == "check":
        known = recorded.load(item.path).get(name, [])
        if item.passed and not recorded.same(known, json.loads(json.dumps(item.tape))):
            report.outcome = "failed"
            report.longrepr = (
                "torch answers otherwise than recorded"
                if known
                else "what it asks torch is not recorded"
            ) + ": python -m tests.record FILE"
        return report
    tapes = _passed.setdefault(item.path, {})
    if item.passed and item.tape:
        tapes[name] = item.tape
    elif not item.passed and item.tape:
        _lost.append(item)
    return report


def pytest_sessionfinish(session):
    config = session.config
    partly = config.option.keyword or any("::" in argument for argument in config.args)
    for path, tapes in _passed.items():
        whole = not partly and all(item.path != path for item in _lost)
        recorded.save(path, recorded.load(path) | tapes if partly else tapes, whole)


def pytest_terminal_summary(terminalreporter):
    if not EMULATED:
        terminalreporter.write_line(
            "what needs the emulated provider of GPUs was not collected: .ci/run emulated"
        )
    if not engines.MPI:
        missing = "an MPI (pip install mpich mpi4py)"
        if not engines.GLOO:
            missing = f"Gloo (pip install --no-deps xoscar) or {missing}"
        terminalreporter.write_line(f"what needs {missing} was not collected")
    if JUDGE == "replay":
        terminalreporter.write_line(
            "torch is not installed: its recorded answers were the judge; tests/oracle, its own "
            "samples, was not collected"
        )
    for item in _lost:
        terminalreporter.write_line(f"not recorded: {item.nodeid}")


@pytest.fixture(autouse=True)
def untouched_defaults():
    """A test that changes a default puts it back, and the numbers drawn do not depend on order."""
    rushlight.manual_seed(0)
    dtype, grad = rushlight.get_default_dtype(), rushlight.is_grad_enabled()
    yield
    assert rushlight.get_default_dtype() == dtype, "the test left another default dtype behind"
    assert rushlight.is_grad_enabled() == grad, "the test left another grad mode behind"
