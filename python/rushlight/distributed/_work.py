"""Work: a call under way, as async_op=True returns it, and the description that ranks compare."""

from __future__ import annotations

import os
import threading
import time
import zlib
from datetime import timedelta

from rushlight import _C
from rushlight.distributed import _diagnosis

_completing = threading.RLock()  # two threads may wait for one Work
os.register_at_fork(after_in_child=_completing._at_fork_reinit)  # type: ignore[attr-defined]
_DIFFERENT = "the ranks do not call the same"
DistBackendError = _C._distributed.DistBackendError


def of(tensor):
    """ "float32[2, 3]": a tensor in descriptions."""
    return f"{str(tensor.dtype).rpartition('.')[2]}{list(tensor.shape)}"


class Call:
    """One collective: the same words on all ranks, or something is wrong."""

    def __init__(self, group, name, words, device=None):
        self.engine = group._engine_for(device)
        self.number, self.name, self.words = 0, name, words
        self.group, self.own_key = group, f"state/{group.rank()}"

    def __str__(self):
        return f"{self.name} #{self.number} ({self.words})"

    def take_number(self):
        """Its position in the order of the group's calls, which is the same on all ranks."""
        with self.group._turn:
            self.group._number += 1
            self.number = self.group._number

    def submit(self, name, given, result, count, *how, **more):
        """Starts it; where several threads call, numbers have the order of the engine's queue."""
        with self.group._turn:
            self.take_number()
            return self.engine.submit(name, given, result, count, self.tag(), *how, **more)

    @property
    def other_keys(self):
        """(rank, key) of the other ranks, which should be in the same call."""
        return [(r, f"state/{r}") for r in range(self.group.size()) if r != self.group.rank()]

    def published(self):
        """What the other ranks read when they wait for long."""
        return str(self)

    def fits(self, rank, published):
        """Whether what another rank has published can meet this call."""
        return published == str(self)

    def tag(self):
        """What differs never meets: eight bits of the number, then a checksum of the words."""
        return (self.number & 0xFF) << 24 | zlib.crc32(str(self).encode()) & 0xFFFFFF


class Exchange(Call):
    """An all_to_all of any lengths: what a rank sends to another must be what that one gets."""

    def __init__(self, group, name, words, device, sent, got):
        super().__init__(group, name, words, device)
        self.sent, self.got = sent, got

    def published(self):
        return f"{self}, sends {self.sent} elements to the ranks and gets {self.got}"

    def fits(self, rank, published):
        same, _, lengths = published.partition(", sends ")
        sent, _, got = lengths.partition(" elements to the ranks and gets ")
        own = self.group.rank()
        return same == str(self) and (
            _length(sent, own) == self.got[rank] and _length(got, own) == self.sent[rank]
        )


def _length(listed, i):
    """The i-th number of "[3, 4]"; -1 where there is none."""
    parts = listed.strip("[]").split(", ")
    return int(parts[i]) if i < len(parts) and parts[i].isdigit() else -1


class Message(Call):
    """One send or receive: the n-th with its tag between two ranks."""

    def __init__(self, group, name, words, source, destination, tag, device):
        self.other = destination if source == group.rank() else source
        self.engine = group._engine_for(device, self.other)
        way = source, destination, tag
        self.number = group._messages[way] = group._messages.get(way, 0) + 1
        self.name, self.words, self.way = name, words, way
        key = f"message/{source}/{destination}/{tag}/"
        mine = "sent" if source == group.rank() else "received"
        self.own_key = key + mine
        self.other_key = key + ("received" if mine == "sent" else "sent")

    @property
    def other_keys(self):
        return [(self.other, self.other_key)]

    def __str__(self):
        source, destination, tag = self.way
        return f"message #{self.number} from {source} to {destination}, tag {tag} ({self.words})"


def _seconds(timeout):
    if timeout is None:
        return None
    return timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)


class Work:
    """A call under way; wait() ends when its result is there.

    >>> torch.distributed.all_reduce(x, async_op=True).wait()  # doctest: +SKIP
    """

    def __init__(self, group=None, call=None, parts=(), finish=None, result=(), source=-1):
        self._group, self._call, self._parts = group, call, parts
        self._finish, self._result, self._source = finish, list(result), source
        self._error = None
        self._finished = not parts and finish is None

    def wait(self, timeout=None) -> bool:
        """Waits for the result.

        Args:
            timeout: a timedelta; without one, the time-out of the group counts.

        Raises:
            DistBackendError: the call failed, here or on another rank.
        """
        if self._error is not None:
            raise self._error
        seconds = _seconds(timeout)
        end = None if not seconds or seconds < 0 else time.monotonic() + seconds
        limit = self._group._timeout if self._parts else 0.0
        pause = _diagnosis.FIRST_LOOK
        for part in self._parts:
            while not part.wait(self._slice(min(pause, limit), end)):
                if end is not None and time.monotonic() >= end:
                    self._fail(f"Timed out waiting {seconds * 1000:.0f}ms")
                if self._call.engine.overdue(limit):
                    self._fail(f"Timed out waiting {limit * 1000:.0f}ms")
                if wrong := _diagnosis.look(self._group, self._call):
                    self._fail(_DIFFERENT, wrong)
                pause = min(2 * pause, 60.0)
            if words := part.error():
                self._fail(words)
        self._complete()
        return True

    @staticmethod
    def _slice(pause, end):
        return pause if end is None else max(0.0, min(pause, end - time.monotonic()))

    def _complete(self):
        with _completing:
            if not self._finished and self._finish is not None:
                self._finish()
            self._finished, self._parts, self._finish, self._kept = True, (), None, ()
            if self._group is not None and self in (self._group._pending or ()):
                self._group._pending.remove(self)

    def _fail(self, words, others=None):
        group = self._group
        if others is None:
            wrong, others = _diagnosis.explain(group, self._call)
            words = _DIFFERENT if wrong else words.partition(". This is typically")[0]
        elif others:
            _diagnosis.publish(group, self._call)
        first = f"{self._call.published()} failed on rank {group._ranks[group.rank()]}: {words}"
        self._call.engine.abort(f"{first}\n{others}")
        self._error = DistBackendError(f"{first}\n{others}" if others else first)
        raise self._error

    def is_completed(self) -> bool:
        """Whether it has ended, well or not."""
        if self._finished or self._error is not None:
            return True
        if not all(part.is_done() for part in self._parts):
            return False
        if not any(part.error() for part in self._parts):
            self._complete()
        return True

    def is_success(self) -> bool:
        """Whether it has ended well."""
        return self.is_completed() and self.exception() is None

    def exception(self):
        """What wait() raises, or None."""
        if self._error is None and self.is_completed() and not self._finished:
            try:
                self.wait()
            except DistBackendError as error:
                return error
        return self._error

    def result(self):
        """The tensors that the call has written."""
        self.wait()
        return self._result

    def get_future(self):
        """A torch.futures.Future of the list of tensors that the call has written.

        >>> torch.distributed.all_reduce(x, async_op=True).get_future()  # doctest: +SKIP
        """
        if isinstance(self._call, Message):
            raise RuntimeError("Work::getFuture not implemented.\nfor messages: use wait()")
        from rushlight.futures import _of_work

        return _of_work(self)

    def synchronize(self) -> None:
        """wait()."""
        self.wait()

    def source_rank(self) -> int:
        """The rank that a message came from."""
        return self._source

    _source_rank = source_rank
