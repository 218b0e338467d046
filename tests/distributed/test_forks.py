"""Processes forked from a rank: none ends another, or waits for a thread that it does not have."""

import atexit
import gc
import os
import signal
import threading

import pytest

import rushlight
import rushlight.distributed as dist
from tests.distributed.test_hostile import failure
from tests.distributed.worlds import run

pytestmark = pytest.mark.gloo
ones = rushlight.ones


def forks(rank, size):
    """Forked children that call, that end, that drop the group, that end as Python does."""

    def call():
        dist.all_reduce(ones(2))

    def drop():
        dist.destroy_process_group()
        gc.collect()

    codes = []
    for body in (call, lambda: None, drop, gc.collect, atexit._run_exitfuncs):
        pid = os.fork()
        if not pid:
            signal.alarm(10)
            try:
                body()
                os._exit(0)
            except RuntimeError as error:
                os._exit(3 if "belongs to process" in str(error) else 1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        dist.all_reduce(x := ones(2))
        assert x.tolist() == [2.0, 2.0]
    return codes


def test_forked_children_do_no_harm():
    for codes in run(forks):
        assert codes == [3, 0, 0, 0, 0]


def forks_meanwhile(rank, size):
    """How children end that are forked while another thread calls and the engine's own work."""
    calls, codes = 4000, set()

    def call():
        for _ in range(calls):
            dist.all_reduce(ones(2), group=group)

    group = dist.new_group()
    thread = threading.Thread(target=call)
    thread.start()
    while thread.is_alive():
        under_way = dist.all_reduce(ones(2), async_op=True)
        pid = os.fork()
        if not pid:
            signal.alarm(10)
            under_way.is_completed()
            texts = {failure(each)[0] for each in (
                lambda: dist.all_reduce(ones(2)),
                lambda: dist.all_reduce(ones(2), group=group),
                lambda: dist.barrier(group),
                under_way.wait,
            )}  # fmt: skip
            os._exit(3 if all("belongs to process" in each for each in texts) else 1)
        codes.add(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        under_way.wait()
        stop = rushlight.tensor(float(not thread.is_alive()))  # all ranks fork as often
        dist.all_reduce(stop)
        if stop:
            break
    thread.join()
    return sorted(codes)


def test_children_forked_while_the_engine_works_do_not_wait_for_it():
    for codes in run(forks_meanwhile):
        assert codes == [3]
