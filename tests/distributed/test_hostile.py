"""Misuse and accidents: errors that name rank, call and both sides. No process ends, none hangs.

Each kind that can end or stop a process inside of Gloo (differing sizes, wrong ranks, rubbish in
the store, forks, killed and stopped peers, ...) is tried between real processes.
"""

import contextlib
import gc
import io
import os
import signal
import threading
import time
from datetime import timedelta

import pytest

import rushlight
import rushlight.distributed as dist
from tests.distributed.worlds import run

pytestmark = pytest.mark.gloo
ones, zeros = rushlight.ones, rushlight.zeros


def failure(call):
    """(the type and words of its error, how long it took)."""
    start = time.monotonic()
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}", time.monotonic() - start
    return "nothing", time.monotonic() - start


def rows(n, size):
    return [zeros(n) for _ in range(size)]


# Calls that do not fit: (rank, size, group) -> what rank 0 and rank 1 call.
DIFFERENT = {
    "sizes, small": lambda r, g: dist.all_reduce(ones(4 + r), group=g),
    "sizes, large": lambda r, g: dist.all_reduce(ones(1 << (18 + r)), group=g),
    "sizes, bits": lambda r, g: dist.all_reduce(
        ones(4 + r, dtype=rushlight.int32), dist.ReduceOp.BXOR, group=g
    ),
    "dtypes": lambda r, g: dist.all_reduce(
        ones(64, dtype=rushlight.float64 if r else rushlight.float32), group=g
    ),
    "shapes of as many elements": lambda r, g: dist.all_reduce(
        ones((2, 3) if r else (3, 2)), group=g
    ),
    "reductions": lambda r, g: dist.all_reduce(
        ones(4), dist.ReduceOp.MAX if r else dist.ReduceOp.SUM, group=g
    ),
    "calls": lambda r, g: (
        dist.all_reduce(ones(64), group=g) if r else dist.broadcast(ones(64), 0, group=g)
    ),
    "a barrier": lambda r, g: dist.barrier(g) if r else dist.all_reduce(ones(1), group=g),
    "roots": lambda r, g: dist.broadcast(ones(4), r, group=g),
    "broadcast, receiver larger": lambda r, g: dist.broadcast(ones(64 + r), 0, group=g),
    "broadcast, receiver smaller": lambda r, g: dist.broadcast(ones(64 - r), 0, group=g),
    "reduce": lambda r, g: dist.reduce(ones(4 + r), 0, group=g),
    "all_gather": lambda r, g: dist.all_gather(rows(4 + r, 2), ones(4 + r), group=g),
    "all_gather_into_tensor": lambda r, g: dist.all_gather_into_tensor(
        zeros(8 + 2 * r), ones(4 + r), group=g
    ),
    "gather": lambda r, g: dist.gather(ones(4 + r), None if r else rows(4, 2), 0, group=g),
    "scatter": lambda r, g: dist.scatter(ones(4 + r), None if r else rows(4, 2), 0, group=g),
    "reduce_scatter": lambda r, g: dist.reduce_scatter(ones(4 + r), rows(4 + r, 2), group=g),
    "all_to_all_single": lambda r, g: dist.all_to_all_single(
        zeros(4 + 2 * r), ones(4 + 2 * r), group=g
    ),
    "all_to_all": lambda r, g: dist.all_to_all(rows(3, 2), [ones(3), ones(3 + r)][:: 1 - 2 * r], g),
    "coalesced": lambda r, g: dist.all_reduce_coalesced([ones(2), ones(3 + r)], group=g),
    "a message's size": lambda r, g: (
        dist.recv(zeros(4), 0, group=g) if r else dist.send(ones(5), 1, group=g)
    ),
    "a message's dtype": lambda r, g: (
        dist.recv(zeros(4, dtype=rushlight.int32), 0, group=g) if r
        else dist.send(ones(4), 1, group=g)
    ),
}  # fmt: skip


def differing(rank, size):
    """All of them at the same time, each in a group and a thread of its own."""
    groups = {name: dist.new_group() for name in DIFFERENT}
    found = {}

    def one(name):
        found[name] = failure(lambda: DIFFERENT[name](rank, groups[name]))

    threads = [threading.Thread(target=one, args=(name,)) for name in DIFFERENT]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    again = failure(lambda: dist.all_reduce(ones(4), group=groups["dtypes"]))
    dist.all_reduce(x := ones(2))  # the default group is as good as before
    return found, again, x.tolist()


def test_calls_that_differ_name_both_sides():
    found = run(differing)
    words = {  # of what rank 0 and rank 1 are in
        "sizes, small": ("all_reduce #1 (float32[4], SUM)", "all_reduce #1 (float32[5], SUM)"),
        "dtypes": ("(float32[64], SUM)", "(float64[64], SUM)"),
        "calls": ("broadcast #1 (float32[64], from 0)", "all_reduce #1 (float32[64], SUM)"),
        "reductions": ("(float32[4], SUM)", "(float32[4], MAX)"),
        "roots": ("from 0", "from 1"),
        "gather": ("gather #1 (float32[4], to 0)", "gather #1 (float32[5], to 0)"),
        "a message's size": ("(float32[5])", "(float32[4])"),
        "a message's dtype": ("(float32[4])", "(int32[4])"),
        "all_to_all": (
            "sends [3, 3] elements to the ranks and gets [3, 3]",
            "sends [4, 3] elements to the ranks and gets [3, 3]",
        ),
    }
    for rank, (errors, again, sums) in enumerate(found):
        for name, (text, seconds) in errors.items():
            assert text.startswith("DistBackendError: ") and seconds < 40, (name, text)
            first, _, others = text.partition("\n")
            assert f"failed on rank {rank}: " in first and f"rank {1 - rank} " in others, text
            if name in words:
                assert words[name][rank] in first and words[name][1 - rank] in others, text
        assert "the group is broken since then" in again[0]
        assert sums == [2.0, 2.0]


# Refused on the rank that calls, before anything is sent.
REFUSED = {
    "broadcast, root 7": lambda g, r: dist.broadcast(ones(4), 7),
    "broadcast, root -1": lambda g, r: dist.broadcast(ones(4), -1),
    "broadcast, root of another type": lambda g, r: dist.broadcast(ones(4), "0"),
    "broadcast, group_src 7": lambda g, r: dist.broadcast(ones(4), group_src=7),
    "reduce, root 2**40": lambda g, r: dist.reduce(ones(4), 2**40),
    "send to 9": lambda g, r: dist.send(ones(4), 9),
    "send to -1": lambda g, r: dist.send(ones(4), -1),
    "send to itself": lambda g, r: dist.send(ones(4), r),
    "recv from itself": lambda g, r: dist.recv(ones(4), r),
    "recv from 2**62": lambda g, r: dist.recv(ones(4), 2**62),
    "a tensor of 2**50 elements": lambda g, r: dist.all_reduce(ones(1).expand(2**50)),
    "no memory": lambda g, r: dist.all_reduce(rushlight.empty(4, device="meta")),
    "a list": lambda g, r: dist.all_reduce([1.0]),
    "None": lambda g, r: dist.all_reduce(None),
    "a reduction 99": lambda g, r: dist.all_reduce(ones(4), 99),
    "a reduction in words": lambda g, r: dist.all_reduce(ones(4), "sum"),
    "BAND of floats": lambda g, r: dist.all_reduce(ones(4), dist.ReduceOp.BAND),
    "AVG of integers": lambda g, r: dist.all_reduce(
        ones(4, dtype=rushlight.int32), dist.ReduceOp.AVG
    ),
    "too few tensors": lambda g, r: dist.all_gather(rows(4, 1), ones(4)),
    "too many tensors": lambda g, r: dist.all_gather(rows(4, 3), ones(4)),
    "tensors too small": lambda g, r: dist.all_gather(rows(3, 2), ones(4)),
    "tensors of another dtype": lambda g, r: dist.all_gather(rows(4, 2), ones(4).double()),
    "output too small": lambda g, r: dist.all_gather_into_tensor(zeros(7), ones(4)),
    "input of reduce_scatter": lambda g, r: dist.reduce_scatter_tensor(zeros(4), ones(7)),
    "split sizes": lambda g, r: dist.all_to_all_single(zeros(4), ones(4), [1, 2], [2, 2]),
    "split sizes below 0": lambda g, r: dist.all_to_all_single(zeros(4), ones(4), [5, -1], [2, 2]),
    "a scatter list elsewhere": lambda g, r: dist.scatter(ones(4), rows(4, 2), 1 - r),
    "no scatter list": lambda g, r: dist.scatter(ones(4), None, r),
    "no group": lambda g, r: dist.all_reduce(ones(4), group="world"),
    "a group of no rank here": lambda g, r: dist.new_group([5]),
    "a group of twice the same": lambda g, r: dist.new_group([0, 0]),
    "a timeout in seconds": lambda g, r: dist.new_group(timeout=5),
    "a group that was destroyed": lambda g, r: dist.all_reduce(ones(4), group=g),
    "a group destroyed twice": lambda g, r: dist.destroy_process_group(g),
    "init twice": lambda g, r: dist.init_process_group("gloo"),
    "objects that pickle refuses": lambda g, r: dist.all_gather_object([None, None], lambda: 0),
    "no operations": lambda g, r: dist.batch_isend_irecv([]),
}  # fmt: skip


def refused(rank, size):
    group = dist.new_group()
    dist.destroy_process_group(group)
    found = {name: failure(lambda call=call: call(group, rank)) for name, call in REFUSED.items()}
    # None of them has sent anything, so that the ranks still agree.
    x = ones(3)
    for _ in range(50):
        dist.all_reduce(x, dist.ReduceOp.AVG)
    for n in (0, 1):
        dist.all_gather(rows(n, 2), ones(n))
        dist.broadcast(zeros(n), 0)
        dist.reduce_scatter(zeros(n), rows(n, 2))
        dist.all_to_all_single(zeros(2 * n), ones(2 * n))
    return found, x.tolist()


def test_what_is_refused_before_it_is_sent():
    kinds = ("TypeError", "ValueError", "RuntimeError", "IndexError", "NotImplementedError")
    kinds += ("AttributeError", "OutOfMemoryError", "MemoryError")  # the last two: 4 PiB
    for found, x in run(refused):
        for name, (text, seconds) in found.items():
            assert text.split(":")[0] in kinds and seconds < 40, (name, text)
        assert x == [1.0] * 3


def threads(rank, size):
    """Two threads in one group, in any order; then close and delete while a call waits."""
    found = []

    def reduce_often(group, values):
        for _ in range(20):
            dist.all_reduce(x := ones(1 << 10), group=group)
            values.append(x[0].item())

    def wait_into(work, words):
        words.append(failure(work.wait)[0])

    values: list[float] = []
    group = dist.new_group()
    workers = [threading.Thread(target=reduce_often, args=(group, values)) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    found.append(values == [2.0] * 40)

    for ending in ("close", "abort", "delete"):
        group, words = dist.new_group(), []
        if rank == 0:
            work = dist.all_reduce(ones(4), group=group, async_op=True)
            if ending == "delete":
                del work
                gc.collect()
                dist.destroy_process_group(group)
                words.append("deleted")
            else:
                waiting = threading.Thread(target=wait_into, args=(work, words))
                waiting.start()
                time.sleep(0.2)
                if ending == "close":
                    dist.destroy_process_group(group)
                else:
                    group.abort()
                waiting.join(20)
        found.append(words)
        dist.barrier()
    # A call that failed, and the next one in another world of the same processes.
    store, name = dist.distributed_c10d._get_default_group()._store, "again"
    store = dist.PrefixStore(name, store)
    words = failure(lambda: dist.all_reduce(ones(4 + rank)))[0]
    dist.destroy_process_group()
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    dist.all_reduce(x := ones(2))
    return found, words, x.tolist()


def test_threads_and_ends_while_a_call_waits():
    for rank, (found, words, x) in enumerate(run(threads)):
        assert found[0] and "all_reduce #" in words and x == [2.0, 2.0]
        for ended in found[1:]:
            assert len(ended) == (rank == 0) and "nothing" not in ended, ended


def large(rank, size):
    x = ones(1 << 23)
    if rank == 1:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()

    def often():
        while True:
            dist.all_reduce(x, dist.ReduceOp.MAX)

    return failure(often)


def stopped(rank, size):
    dist.barrier()
    group = dist.new_group(timeout=timedelta(seconds=2))
    if rank == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    return failure(lambda: dist.all_reduce(ones(2), group=group))


def gone(rank, size):
    dist.barrier()
    return "left" if rank else failure(lambda: dist.all_reduce(ones(2)))


def daemon(rank, size):
    if rank == 0:
        threading.Thread(target=lambda: dist.all_reduce(ones(2)), daemon=True).start()
        time.sleep(0.2)
    return "main thread ends now"


def test_a_rank_killed_in_a_large_call():
    text, seconds = run(large, expect=1)[0]
    assert "all_reduce #" in text and "rank 1 has exited" in text and seconds < 40


def test_a_rank_that_is_stopped():
    text, seconds = run(stopped, expect=1)[0]
    assert "Timed out waiting 2000ms" in text and "rank 1 " in text and seconds < 40


def test_a_rank_that_has_left():
    text, _ = run(gone)[0]
    assert "all_reduce #" in text and "rank 1 has exited or left the group" in text


def test_a_thread_that_waits_does_not_hinder_the_end():
    start = time.monotonic()
    assert run(daemon) == ["main thread ends now"] * 2 and time.monotonic() - start < 40


def start(rank, size, port, store=None, **options):
    store = store or dist.TCPStore("127.0.0.1", port)
    options = {"timeout": timedelta(seconds=15), **options}
    return failure(
        lambda: dist.init_process_group("gloo", store=store, rank=rank, world_size=size, **options)
    )


def ranks(rank, size, port):
    """Ranks and sizes that cannot be."""
    return [
        start(5, 2, port), start(-1, 2, port), start(0, 0, port), start("0", 2, port),
        start(rank, 2**40, port) if rank == 9 else None,
    ][:4]  # fmt: skip


def no_address(rank, size, port):
    os.environ["GLOO_SOCKET_IFNAME"] = "nosuch0"
    return start(rank, size, port)


def foreign_address(rank, size, port):
    import rushlight.distributed._gloo as gloo

    gloo.address = lambda store: "192.0.2.1"  # no host's
    return start(rank, size, port)


def dies(rank, size, port):
    import rushlight.distributed._gloo as gloo

    if rank == 1:
        gloo._Exchange.wait = lambda self, keys: os.kill(os.getpid(), signal.SIGKILL)
    gloo._CONNECTING = 2.0
    return start(rank, size, port)


def rubbish(rank, size, port):
    import rushlight.distributed._gloo as gloo

    gloo._CONNECTING = 2.0
    gloo._Exchange.set_tcp = lambda self, key, value: self.store.set(key, b"abc" * rank)
    return start(rank, size, port)


def raising(rank, size, port):
    import rushlight.distributed._gloo as gloo

    def wait(self, keys):
        raise TimeoutError("words of my own")

    gloo._Exchange.wait = wait
    return start(rank, size, port)


def few_files(rank, size, port):
    import resource

    own = len(os.listdir("/proc/self/fd"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if rank == 0:  # a soft limit is raised
        resource.setrlimit(resource.RLIMIT_NOFILE, (own + 10, hard))
        store = dist.TCPStore("127.0.0.1", port)
        from rushlight.distributed._gloo import _allow_descriptors

        _allow_descriptors(500)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 2000
        return "raised", 0.0
    resource.setrlimit(resource.RLIMIT_NOFILE, (own + 20, own + 20))
    store = dist.TCPStore("127.0.0.1", port)
    store.set("rushlight/1/world/here/0", "127.0.0.1")
    return start(rank, size, port, store)


def test_a_limit_of_open_files():
    raised, refused = run(few_files, bare=True)
    assert raised[0] == "raised"
    assert "a group of 2 ranks needs" in refused[0] and "ulimit -Hn" in refused[0]


def missing(rank, size, port):
    """Ranks 2 and 3 never come; no process serves the other port."""
    from rushlight.distributed import _waiting

    _waiting.NOTICE = 0.3
    together = dist.TCPStore("127.0.0.1", port)
    together.barrier("both are here", size, timedelta(seconds=30))
    with contextlib.redirect_stderr(io.StringIO()) as said:
        found = start(rank, 4, port, timeout=timedelta(seconds=2))
        free = dist.TCPStore("127.0.0.1", 0, is_master=True).port  # closed at once
        unserved = failure(
            lambda: dist.init_process_group(
                "gloo", init_method=f"tcp://127.0.0.1:{free}", rank=1, world_size=2,
                timeout=timedelta(seconds=1),
            )
        )  # fmt: skip
    return found[0], unserved[0], said.getvalue(), free


def test_who_is_missing_is_said_while_others_wait():
    for rank, (text, unserved, said, free) in enumerate(run(missing, bare=True)):
        assert f"rank {rank} still waits for ranks [2, 3] of 4 after 2 s" in text
        assert f"to connect to (127.0.0.1, {free})" in unserved and "is rank 0 running" in unserved
        waiting = "torch.distributed: waiting for ranks [2, 3] of 4 since 0 s"
        assert (waiting in said) == (rank == 0)  # one of them says it
        assert f"waiting for rank 0 at 127.0.0.1:{free} since" in said


def test_starts_that_fail():
    for found in run(ranks, bare=True):
        for text, _ in found:
            assert text.split(":")[0] in ("ValueError", "AssertionError", "TypeError"), text
    for found in run(no_address, bare=True):
        assert "GLOO_SOCKET_IFNAME=nosuch0" in found[0]
    for found in run(foreign_address, bare=True):
        assert "192.0.2.1" in found[0] and "rank" in found[0]
    text, seconds = run(dies, bare=True, expect=1)[0]
    assert "rank" in text and seconds < 40


def test_rubbish_in_the_store():
    for text, seconds in run(rubbish, bare=True):
        assert text != "nothing" and seconds < 40, text
    for text, seconds in run(raising, bare=True):
        assert "words of my own" in text and seconds < 40, text
