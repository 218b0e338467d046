"""MPI, through mpi4py: the engine of groups in programs that mpiexec or srun started.

MPI has no time-outs, no tags of collectives and no way out of a call. So each collective begins
with a reduction of its checksum, by which all ranks see that they differ; a call that does not end
keeps its thread for ever, and the process then ends by MPI_Abort, as MPI_Finalize would wait.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import importlib.util
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from rushlight import _C
from rushlight.distributed import _gloo, _job

_HALF, _LARGEST_TAG = 6, 32767  # of _gloo.KINDS; of MPI's standard
_stores: list = []  # servers stay until the process ends
_stuck: list = []  # not empty: a call of MPI will never return


def is_available() -> bool:
    """Whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def check():
    """RuntimeError where there is no MPI that could be used."""
    if not is_available():
        raise RuntimeError(
            "Distributed package doesn't have MPI built in\nrushlight takes it from the package "
            "mpi4py: pip install 'rushlight[mpi]', and an MPI, as of pip install mpich"
        )
    if _job.program() is None:
        raise RuntimeError(
            "backend='mpi' is for programs that mpiexec or srun started: "
            "mpiexec -n 4 python train.py\nbackend='gloo' needs neither"
        )


def _abort_after(type_, value, traceback):
    """An exception ends all ranks: the others would wait in MPI for ever."""
    sys.__excepthook__(type_, value, traceback)
    _abort()


@atexit.register
def _abort_if_stuck():
    if _stuck:
        _abort()


def _abort():
    sys.stdout.flush()
    sys.stderr.flush()
    time.sleep(0.5)  # mpiexec drops what it has not read yet
    _module().COMM_WORLD.Abort(1)


def _module():
    from mpi4py import MPI

    return MPI


def world(timeout):
    """(store, rank, size): what tells the ranks how to find each other is MPI itself."""
    module = _module()
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _abort_after
    comm = module.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    near = comm.Split_type(module.COMM_TYPE_SHARED)
    host, port = "127.0.0.1", 0
    if near.Get_size() < size:
        host = socket.gethostbyname(socket.gethostname())
    near.Free()
    wait = timedelta(seconds=timeout)
    if rank == 0:
        _stores.append(_C._distributed.TCPStore(host, 0, None, True, wait, False))
        port = _stores[-1].port
    host, port = comm.bcast((host, port), root=0)
    return _C._distributed.TCPStore(host, port, None, False, wait, False), rank, size


class _Part:
    """A call under way."""

    def __init__(self, run):
        self._run, self._error, self._ended = run, "", threading.Event()
        self.since = 0.0

    def run(self):
        self.since = time.monotonic()
        try:
            self._run()
        except Exception as error:
            self._error = str(error) or type(error).__name__
        self._run = None
        self._ended.set()

    def wait(self, seconds):
        return self._ended.wait(seconds)

    def is_done(self):
        return self._ended.is_set()

    def error(self):
        return self._error


# By name, with the communicator, input and result, the reduction and the other rank or the root.
_COLLECTIVES: dict[str, Callable] = {
    "all_reduce": lambda c, given, result, op, root: c.Allreduce(given, result, op=op),
    "reduce": lambda c, given, result, op, root: c.Reduce(given, result, op=op, root=root),
    "broadcast": lambda c, given, result, op, root: c.Bcast(given, root=root),
    "all_gather": lambda c, given, result, op, root: c.Allgather(given, result),
    "all_to_all": lambda c, given, result, op, root: c.Alltoall(given, result),
    "gather": lambda c, given, result, op, root: c.Gather(given, result, root=root),
    "scatter": lambda c, given, result, op, root: c.Scatter(given, result, root=root),
    "barrier": lambda c, given, result, op, root: c.Barrier(),
}


class Engine:
    """A communicator of some ranks of MPI_COMM_WORLD."""

    kinds = _gloo.KINDS
    scatters = False
    together = contextlib.nullcontext

    def __init__(self, ranks, number):
        module = self._module = _module()
        everybody = module.COMM_WORLD.Get_group()
        members = everybody.Incl(list(ranks))
        self._comm = module.COMM_WORLD.Create_group(members, number % _LARGEST_TAG)
        self._comm.Set_errhandler(module.ERRORS_RETURN)
        self._types = {0: module.INT8_T, 1: module.UINT8_T, 2: module.INT32_T, 4: module.INT64_T,
                       7: module.FLOAT, 8: module.DOUBLE}  # fmt: skip
        self._ops = [module.SUM, module.PROD, module.MIN, module.MAX]
        self._broken, self._now = "", None
        self._calls: queue.SimpleQueue = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True, name="MPI").start()

    def _work(self):
        while (part := self._calls.get()) is not None:
            self._now = part
            part.run()
            self._now = None

    def submit(self, call, given, result, count, tag, kind=1, reduction=0, peer=0):
        """Starts a call; returns what tells of its end."""
        if given is not None and given.nbytes < count:  # bytes or, in reductions, elements
            raise ValueError(f"submit(): a tensor of {count} bytes is needed")
        source, target = self._buffer(given, kind), self._buffer(result, kind)
        op = self._ops[reduction]

        def run():
            if self._broken:
                raise RuntimeError(self._broken)
            # A send ends when it is received, as in Gloo: one that is not is announced to ranks
            # that receive from any.
            if call == "send":
                return self._comm.Ssend(source, dest=peer, tag=tag % _LARGEST_TAG)
            if call == "receive":
                return self._comm.Recv(target, source=peer, tag=tag % _LARGEST_TAG)
            same = array.array("q", [tag, -tag])
            self._comm.Allreduce(self._module.IN_PLACE, same, op=self._module.MIN)
            if list(same) != [tag, -tag]:
                self._broken = "the ranks do not call the same"
                raise RuntimeError(self._broken)
            if kind == _HALF and call in ("all_reduce", "reduce"):  # of which MPI has no sum
                wide = given.float(), result.float()
                _COLLECTIVES[call](self._comm, *(self._buffer(w, 7) for w in wide), op, peer)
                return result.copy_(wide[1])
            if call == "all_reduce" and given.data_ptr() == result.data_ptr():
                return self._comm.Allreduce(self._module.IN_PLACE, target, op=op)
            return _COLLECTIVES[call](self._comm, source, target, op, peer)

        part = _Part(run)
        if call in ("send", "receive"):
            threading.Thread(target=part.run, daemon=True).start()
        else:
            self._calls.put(part)
        return part

    def _buffer(self, tensor, kind):
        if tensor is None:
            return None
        memory = self._module.memory.fromaddress(tensor.data_ptr(), tensor.nbytes)
        return [memory, self._types.get(kind, self._module.BYTE)]

    def broken(self):
        """Why a call failed, or nothing."""
        return self._broken

    def overdue(self, seconds):
        """Whether a collective has run for longer."""
        now = self._now
        return now is not None and time.monotonic() - now.since > seconds

    def abort(self, reason):
        """No call after this one."""
        self._broken = self._broken or reason

    def close(self):
        """Ends the thread; one that waits for others for ever, is left."""
        self._calls.put(None)
        if (now := self._now) is not None and not now.wait(5.0):
            _stuck.append(now)
        elif not self._broken:
            self._comm.Free()
