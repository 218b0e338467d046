"""ProcessGroup: some ranks, a store of theirs, and an engine if they are more than one."""

from __future__ import annotations

import contextlib
import threading
import zlib
from datetime import timedelta

from rushlight import _C
from rushlight.distributed import _gloo, _mpi, _nccl
from rushlight.distributed._backend_config import read_backend
from rushlight.distributed._group_calls import GroupCalls
from rushlight.distributed._waiting import say, slices
from rushlight.distributed._work import Call, Work

DistStoreError = _C._distributed.DistStoreError


class ProcessGroup(GroupCalls):
    """Processes that call collectives together; init_process_group and new_group make them.

    >>> torch.distributed.new_group([0, 1]).size()  # doctest: +SKIP
    2
    """

    def __init__(self, store, ranks, rank, backend, timeout, name, description, device=None):
        self._ranks, self._rank = list(ranks), rank
        self._backend, self._served = read_backend(backend)
        uses_nccl = "nccl" in self._served.values()
        self._nccl = _nccl.Communicators(self, device) if uses_nccl else None
        self._timeout, self.group_name, self.group_desc = timeout, name, description
        self._number, self._messages = -1, {}  # the start of the group is call 0
        self._turn = threading.RLock()  # of a call's number and its entry into the engine's queue
        self._pending = []
        self._engine, self._store = None, None
        self._announcer, self._notes = None, None  # of sends, for recv from any rank
        if len(self._ranks) == 1:
            return
        self._store = _C._distributed.PrefixStore(name, store.clone())
        self._store.set_timeout(timedelta(seconds=timeout))
        self._engine = self._connect()
        self._store.set_timeout(timedelta(seconds=10))  # from now on nothing in it is waited for
        self._store._leave_will(f"gone/{rank}", "1")
        if self._engine is not None:
            call = Call(self, "the start of the group", f"{self.size()} ranks")
            self._start(call, "barrier", None, None, 0).wait()
        if self._nccl and device is not None:
            self._nccl.connect(device)

    def _connect(self):
        """The engine, once all ranks are there; None where NCCL's own will serve."""
        everybody = range(self.size())
        if "mpi" in self._served.values():
            self._meet("here", "mpi", everybody)
            return _mpi.Engine(self._ranks, zlib.crc32(self.group_name.encode()))
        address = _gloo.address(self._store)
        addresses = self._meet("here", address, everybody)
        near = [self._ranks[r] for r, a in enumerate(addresses) if a.startswith("127.")]
        if near and len(near) < len(addresses):
            raise RuntimeError(
                f"ranks {near} are at a loopback address, which ranks on other hosts cannot reach: "
                "set MASTER_ADDR to an address that all hosts reach"
            )
        if "gloo" not in self._served.values() and self._nccl.real:
            return None
        exchange = _C._distributed.PrefixStore("mesh", self._store)
        return _gloo.Engine(exchange, self._rank, len(addresses), address, self._timeout)

    def _meet(self, name, value, ranks):
        """What each of some ranks of the group has said under a name, once all have."""
        self._store.set(f"{name}/{self._rank}", value)
        keys = [f"{name}/{r}" for r in ranks]
        for waited, more in slices(self._timeout):
            try:
                self._store.wait(keys, more)
                break
            except DistStoreError:
                here = [r for r, key in zip(ranks, keys, strict=True) if self._store.check([key])]
            away = [self._ranks[r] for r in ranks if r not in here]
            if self._timeout - waited - more < 1e-3:
                raise DistStoreError(
                    f"wait timeout after {self._timeout * 1000:.0f}ms\n"
                    f"rank {self._ranks[self._rank]} still waits for ranks {away} of {self.size()} "
                    f"after {self._timeout:.0f} s: were they started, with the same MASTER_ADDR, "
                    "MASTER_PORT and WORLD_SIZE?"
                )
            if self._rank == min(here):  # one of the waiting ranks prints it
                say(f"waiting for ranks {away} of {self.size()} since {waited + more:.0f} s")
        return [value.decode() for value in self._store.multi_get(keys)]

    def rank(self) -> int:
        """The index of this process in the group."""
        return self._rank

    def size(self) -> int:
        """How many processes are in the group."""
        return len(self._ranks)

    def name(self) -> str:
        """The backend."""
        return self._backend

    def _admit(self, tensors, message=False):
        """Raises torch's errors for tensors that no backend of the group takes."""
        for each in tensors:
            if each.device.type not in self._served:
                raise RuntimeError(
                    f"No backend type associated with device type {each.device.type}\nthe group's "
                    f"backend is {self._backend!r}; 'cpu:gloo,cuda:nccl' serves both"
                )
        if tensors and self._served[tensors[0].device.type] == "nccl":
            self._nccl.admit(tensors, message)

    def _engine_for(self, device, other=None):
        """The engine of a call on a device, of all ranks or of this and another."""
        if device is not None and self._served[device.type] == "nccl":
            return self._nccl.connect(device, other)
        return self._engine

    def _engines(self):
        own = [] if self._engine is None else [self._engine]
        return own + (self._nccl.engines() if self._nccl else [])

    def _together(self, device):
        """For NCCL, the sends and receives in this context are one piece of work."""
        if self._served[device.type] == "nccl":
            return self._nccl.together(device)
        return contextlib.nullcontext()

    def _barrier_device(self, device_ids):
        """Where a barrier is: None for the CPU."""
        if "cpu" in self._served or self._served["cuda"] != "nccl":
            return None
        return self._nccl.barrier_device(device_ids)

    def _object_device(self):
        """Where the bytes of objects are sent from: as in torch, the CPU where it is served."""
        if "cpu" in self._served:
            return _C.device("cpu")
        return _C.device("cuda", _C._cuda.current_device())

    @property
    def _device_types(self):
        """The kinds of devices that the group serves, under the name that libraries read."""
        return [_C.device(kind) for kind in self._served]

    @property
    def bound_device_id(self):
        """The device of init_process_group's `device_id`, or None."""
        return self._nccl.bound if self._nccl else None

    def _check(self):
        if self._ranks is None or (self.size() > 1 and self._store is None):
            raise ValueError("Invalid process group specified: it has been destroyed")
        if reason := next(filter(None, (each.broken() for each in self._engines())), None):
            raise _C._distributed.DistBackendError(
                f"{reason}\nthe group is broken since then: destroy_process_group(), and init again"
            )

    def _start(self, call, name, given, result, count, finish=None, keep=(), **how):
        """Submits a call to the engine; the Work keeps its tensors alive until it has ended."""
        part = call.submit(name, given, result, count, **how)
        work = Work(self, call, [part], finish, [result] if result is not None else [])
        return self._hold(work, (given, result, *keep))

    def _hold(self, work, kept):
        work._kept = kept
        self._pending = [w for w in self._pending if not all(p.is_done() for p in w._parts)]
        self._pending.append(work)
        return work

    def _close(self):
        for each in self._engines():
            each.close()
        if self._announcer is not None:
            self._announcer.close()
        self._engine, self._store, self._pending = None, None, []

    def __repr__(self):
        return f"<ProcessGroup {self.group_name}: rank {self._rank} of {self._ranks}>"
