"""DataLoader with worker processes: seeds, order, exceptions, deaths, and what must not remain."""

import gc
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import warnings
from multiprocessing import resource_tracker

import numpy
import pytest

import rushlight
from rushlight.utils import data as ours

from .test_datasets import both, plain

warnings.filterwarnings("ignore", "This DataLoader will create")
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Probe:
    """A data set whose samples are what a function makes of their index."""

    def __init__(self, function, size=8):
        self.function = function
        self.size = size

    def __getitem__(self, index):
        return self.function(index)

    def __len__(self):
        return self.size


class Stream(ours.IterableDataset):
    def __init__(self, size):
        self.size = size

    def __iter__(self):
        info = ours.get_worker_info()
        return iter(range(info.id, self.size, info.num_workers))


def children():
    tasks = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return set(tasks.read_text().split()) if tasks.exists() else set()


@pytest.fixture(autouse=True)
def nothing_remains():
    """Each test must leave as many processes and open files as it found."""
    resource_tracker.ensure_running()  # spawn starts this process, and it stays
    gc.collect()
    before = children(), len(os.listdir("/proc/self/fd"))
    yield
    gc.collect()
    end = time.monotonic() + 5
    while children() - before[0] and time.monotonic() < end:
        time.sleep(0.05)
    assert not children() - before[0], "a worker is left behind"
    assert len(os.listdir("/proc/self/fd")) <= before[1], "a descriptor is left open"


@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"prefetch_factor": 5}], ids=str)
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_batches_are_torchs(options, workers):
    def run(library, data):
        library.manual_seed(2)
        values = library.rand(50, 3)
        datasets = [Probe(lambda i: (values[i], i, {"text": str(i)}), 50)]
        datasets.append(data.TensorDataset(values, library.arange(50)))
        loaders = [data.DataLoader(d, 7, num_workers=workers, **options) for d in datasets]
        return plain([list(loader) for loader in loaders]), library.rand(1).item()

    mine, theirs = both(run)
    assert mine == theirs


def test_seeds_are_torchs():
    def run(library, data):
        def draw(index):
            info = data.get_worker_info()
            return (
                library.rand(1).item(), random.random(), numpy.random.rand(), info.seed, info.id
            )  # fmt: skip

        library.manual_seed(11)
        loader = data.DataLoader(Probe(draw), 2, num_workers=2, collate_fn=list)
        return list(loader), list(loader)

    mine, theirs = both(run)
    assert mine == theirs


def test_every_kind_of_data_crosses():
    big = rushlight.arange(30000).view(100, 300)

    def make(index):
        half = rushlight.ones(3, dtype=rushlight.bfloat16)
        return {
            "big": big + index,
            "strided": big.t()[:5, ::7],
            "scalar": rushlight.tensor(index),
            "empty": rushlight.zeros(0, 4, dtype=rushlight.int16),
            "half": half,
            "bool": rushlight.tensor([True, False]),
            "leaf": rushlight.ones(2, requires_grad=True),
            "array": numpy.arange(20000.0).reshape(100, 200),
            "small": numpy.arange(3),
            "text": "word" * 10000,
            "none": None,
        }

    loader = ours.DataLoader(Probe(make), batch_size=None, num_workers=2)
    for index, sample in enumerate(loader):
        expected = ours.default_convert(make(index))
        for name, value in expected.items():
            if isinstance(value, rushlight.Tensor):
                assert sample[name].dtype == value.dtype
                assert sample[name].shape == value.shape
                assert sample[name].tolist() == value.tolist()
                assert sample[name].requires_grad == value.requires_grad
            else:
                assert sample[name] == value


def test_batches_stay_when_the_workers_are_gone():
    loader = ours.DataLoader(
        Probe(lambda i: rushlight.full((20000,), float(i)), 40), 2, num_workers=2
    )
    batches = list(loader)
    assert [batch[0, -1].item() for batch in batches] == list(range(0, 40, 2))
    assert sorted(batch.sum().item() for batch in batches) == [
        20000.0 * (2 * i + 1) for i in range(0, 40, 2)
    ]


def test_large_indices_and_large_batches_do_not_block():
    dataset = ours.TensorDataset(rushlight.arange(200000))
    order = [i % 200000 for i in range(600000)]
    loader = ours.DataLoader(dataset, 200000, sampler=order, num_workers=2, prefetch_factor=4)
    assert sum(batch[0].numel() for batch in loader) == 600000


def flat(loader):
    return [value for batch in loader for value in batch.tolist()]


def test_streams_share():
    loader = ours.DataLoader(Stream(20), 3, num_workers=2)
    for _ in range(2):
        assert sorted(flat(loader)) == list(range(20))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_start_methods(method):
    data = ours.TensorDataset(rushlight.arange(10))
    loader = ours.DataLoader(data, 4, num_workers=1, multiprocessing_context=method)
    assert plain(list(loader)) == [[[0, 1, 2, 3]], [[4, 5, 6, 7]], [[8, 9]]]


def test_persistent_workers_live_on():
    loader = ours.DataLoader(
        Probe(lambda i: os.getpid()), 4, num_workers=2, persistent_workers=True
    )
    first, second = plain(list(loader)), plain(list(loader))
    assert first == second
    next(iter(loader))  # an epoch left early must not disturb the next
    assert plain(list(loader)) == first
    stream = ours.DataLoader(Stream(9), 2, num_workers=2, persistent_workers=True)
    for _ in range(3):
        assert sorted(flat(stream)) == list(range(9))


def test_out_of_order():
    def slow_first(index):
        time.sleep(0.6 if index == 0 else 0)
        return index

    loader = ours.DataLoader(Probe(slow_first, 6), num_workers=2, in_order=False)
    found = [batch.item() for batch in loader]
    assert sorted(found) == list(range(6))
    assert found[0] != 0


def fail(index):
    if index == 3:
        raise KeyError("no such sample")
    return index


def test_exceptions_keep_type_and_traceback():
    iterator = iter(ours.DataLoader(Probe(fail), 2, num_workers=2))
    assert next(iterator).tolist() == [0, 1]
    with pytest.raises(KeyError) as caught:
        next(iterator)
    text = str(caught.value)
    assert text.startswith("Caught KeyError in DataLoader worker process 1.\nOriginal Traceback")
    assert 'raise KeyError("no such sample")' in text
    assert next(iterator).tolist() == [4, 5], "the other batches still come"


class TwoArguments(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


def refuse(worker_id):
    raise ValueError(f"worker {worker_id} refuses")


def test_exceptions_that_cannot_travel():
    def odd(index):
        raise TwoArguments(1, 2)

    with pytest.raises(RuntimeError, match="Caught TwoArguments in DataLoader worker process 0"):
        next(iter(ours.DataLoader(Probe(odd), num_workers=1)))

    def local(index):
        class Local(Exception):
            pass

        raise Local("here")

    with pytest.raises(RuntimeError, match="in DataLoader worker process 0"):
        next(iter(ours.DataLoader(Probe(local), num_workers=1)))
    with pytest.raises(ValueError, match="worker 0 refuses"):
        next(iter(ours.DataLoader(Probe(fail), num_workers=1, worker_init_fn=refuse)))


def test_what_cannot_be_pickled():
    loader = ours.DataLoader(Probe(lambda i: lambda: i), batch_size=None, num_workers=1)
    with pytest.raises(Exception, match="in DataLoader worker process 0") as caught:
        next(iter(loader))
    assert "pickle" in str(caught.value)

    def tracked(index):
        return rushlight.ones(2, requires_grad=True) * 2

    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf"):
        next(iter(ours.DataLoader(Probe(tracked), num_workers=1)))


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "killed by signal 9 .Killed."),
        (lambda: os.kill(os.getpid(), signal.SIGUSR1), "killed by signal 10"),
        (lambda: os._exit(7), "ended with exit code 7"),
        (lambda: sys.exit(3), "ended with exit code 3"),
    ],
)
def test_a_dead_worker_is_an_error_at_once(end, words):
    def die(index):
        if index == 5:
            end()
        return index

    iterator = iter(ours.DataLoader(Probe(die), num_workers=2))
    pids = [process.pid for process in iterator._workers]
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=words) as caught:
        list(iterator)
    assert time.monotonic() - begin < 3
    assert f"DataLoader worker (pid(s) {pids[1]}) exited unexpectedly" in str(caught.value)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(iterator)


def test_killed_from_outside_while_waiting():
    def sleep(index):
        time.sleep(60)

    iterator = iter(ours.DataLoader(Probe(sleep), num_workers=2))
    os.kill(iterator._workers[0].pid, signal.SIGKILL)
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match="killed by signal 9"):
        next(iterator)
    assert time.monotonic() - begin < 4


def test_timeout():
    loader = ours.DataLoader(Probe(lambda i: time.sleep(30)), num_workers=1, timeout=0.3)
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.3 seconds"):
        next(iter(loader))
    assert time.monotonic() - begin < 4


def test_abandoned_iterators_end_their_workers():
    before = children()
    loader = ours.DataLoader(Probe(lambda i: rushlight.zeros(100000), 100), num_workers=2)
    for _ in range(3):
        for _batch in loader:
            break
    iterator = iter(loader)
    next(iterator)
    del iterator
    assert children() == before


def test_too_many_workers_warns():
    with pytest.warns(UserWarning, match="This DataLoader will create 999 worker processes"):
        ours.DataLoader(range(4), num_workers=999)


PROGRAM = """
import os, sys, time, warnings
warnings.simplefilter("ignore")
import rushlight
from rushlight.utils.data import DataLoader
class Slow:
    def __getitem__(self, index):
        time.sleep({delay})
        return index
    def __len__(self):
        return 1000
if __name__ == "__main__":
    iterator = iter(DataLoader(Slow(), num_workers=2))
    if {delay} < 1:
        next(iterator)
    print(*[worker.pid for worker in iterator._workers], flush=True)
    {then}
"""


def start(delay, then):
    where = str(pathlib.Path(rushlight.__file__).parent.parent)
    paths = [where, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(delay=delay, then=then)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,
    )
    return process, [int(pid) for pid in process.stdout.readline().split()]


def wait_gone(pids):
    end = time.monotonic() + 6
    while time.monotonic() < end:
        if not any(is_running(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("delay", [0.01, 100])
@pytest.mark.parametrize("what", ["parent", "group", "killed", "leaves"])
def test_no_orphans_no_hangs(delay, what):
    then = "sys.exit(0)" if what == "leaves" else "next(iterator); time.sleep(60)"
    process, pids = start(delay, then)
    assert len(pids) == 2
    try:
        time.sleep(0.3)
        if what == "parent":
            process.send_signal(signal.SIGINT)
        elif what == "group":
            os.killpg(process.pid, signal.SIGINT)
        elif what == "killed":
            process.kill()
        begin = time.monotonic()
        _, errors = process.communicate(timeout=20)
        assert time.monotonic() - begin < 8
        if what in ("parent", "group"):
            assert errors.count("Traceback") == 1, errors
            assert "KeyboardInterrupt" in errors
        if what == "leaves":
            assert process.returncode == 0
            assert errors == ""
        assert wait_gone(pids)
    finally:
        process.kill()
        for pid in pids:
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)


def test_ended_workers_can_be_asked():
    iterator = iter(ours.DataLoader(Stream(6), None, num_workers=2))
    workers = iterator._workers
    next(iterator)
    del iterator
    assert [worker.is_alive() for worker in workers] == [False, False]
    assert all(worker.exitcode is not None for worker in workers)


def test_workers_belong_to_the_process_that_started_them():
    iterator = iter(ours.DataLoader(range(8), num_workers=1))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            next(iterator)
        except RuntimeError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    said = os.read(read, 1000).decode()
    os.close(read)
    assert f"this DataLoader iterator is of the process {os.getpid()}" in said
    assert [batch.item() for batch in iterator] == list(range(8))


def test_more_ahead_than_there_is():
    batches = list(ours.DataLoader(range(4), num_workers=1, prefetch_factor=2**63 - 1))
    assert [batch.item() for batch in batches] == [0, 1, 2, 3]


def test_more_workers_than_any_machine_has():
    with pytest.raises(ValueError, match="num_workers option should be at most 10000"):
        ours.DataLoader(range(4), num_workers=2**63 - 1)
