"""recv from whichever rank sends first, which Gloo does not have.

A send that is not received within some milliseconds is announced in the store: its number among the
sends of its (source, destination, tag) is written to the key of (source, destination, tag), and if
the destination has ever received from any rank, a note is added to a list of its own. A rank that
does so for the first time sets a flag, then reads the keys: so either side sees the other, whatever
the order. No rank polls, and sends that are received quickly write nothing.
"""

from __future__ import annotations

import queue
import threading
import time
from datetime import timedelta

from rushlight import _C
from rushlight.distributed._work import Work

DistStoreError = _C._distributed.DistStoreError
LATE = 0.002  # seconds after which a send is announced
_LOOK = 1.0  # seconds between two looks at whether anybody is left


class Announcer:
    """One thread of a group, which watches over sends that have begun."""

    def __init__(self, group):
        self._store = group._store.clone()
        self._store.set_timeout(timedelta(seconds=10))
        self._sends = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True, name="sends of a group").start()

    def watch(self, part, way, number):
        """A send: the engine's part, (source, destination, tag), its number."""
        self._sends.put((part, way, number, time.monotonic() + LATE))

    def close(self):
        """Ends the thread."""
        self._sends.put(None)

    def _run(self):
        while (send := self._sends.get()) is not None:
            part, (source, destination, tag), number, deadline = send
            if part.wait(max(0.0, deadline - time.monotonic())):
                continue
            try:
                self._store.set(f"late/{destination}/{source}/{tag}", str(number))
                if self._store.check([f"any/{destination}"]):
                    n = self._store.add(f"any/{destination}/notes", 1)
                    self._store.set(f"any/{destination}/{n}", f"{source} {tag} {number}")
            except _C._distributed.DistError:
                return  # the store is gone: the receiver's own wait raises


class Notes:
    """What a rank that receives from any rank knows: the newest message of each direction."""

    def __init__(self, group):
        self._group, self._read = group, 0
        self._known: dict[tuple[int, int], int] = {}  # (source, tag) -> number, oldest note first
        self._tags: set[int] = set()
        group._store.set(f"any/{group.rank()}", "1")

    def next_source(self, tag, seconds):
        """The rank in the group of a sender with this tag, or None after so many seconds."""
        own, store = self._group.rank(), self._group._store
        if tag not in self._tags:
            self._tags.add(tag)
            for source in range(self._group.size()):
                key = f"late/{own}/{source}/{tag}"
                if store.check([key]):
                    self._known.setdefault((source, tag), int(store.get(key)))
        end = time.monotonic() + seconds
        while True:
            for (source, its_tag), number in list(self._known.items()):
                taken = self._group._messages.get((source, own, its_tag), 0)
                if number <= taken:
                    del self._known[source, its_tag]
                elif its_tag == tag:
                    return source
            key = f"any/{own}/{self._read + 1}"
            try:
                left = max(0.0, end - time.monotonic())
                store.wait([key], timedelta(seconds=left))
            except DistStoreError:
                return None
            source, its_tag, number = map(int, store.get(key).split())
            store.delete_key(key)
            self._read += 1
            known = self._known.get((source, its_tag), 0)
            self._known[source, its_tag] = max(number, known)


class WorkOfAny(Work):
    """A receive whose source is not known before its message comes."""

    def __init__(self, group, tag, begin):
        super().__init__(group)
        self._tag, self._begin, self._work = tag, begin, None
        self._finished = False

    def _find(self, seconds):
        """Begins to receive if a rank has sent within so many seconds."""
        if self._work is None:
            group = self._group
            group._notes = group._notes or Notes(group)
            if (source := group._notes.next_source(self._tag, seconds)) is not None:
                self._work = self._begin(source)
        return self._work is not None

    def wait(self, timeout=None) -> bool:
        """Waits for the message.

        Args:
            timeout: a timedelta; without one, the time-out of the group counts.

        Raises:
            DistBackendError: no message came, or a rank failed.
        """
        if self._error is not None:
            raise self._error
        group = self._group
        seconds = group._timeout if timeout is None else timeout.total_seconds()
        end = time.monotonic() + seconds
        while not self._find(min(_LOOK, max(0.0, end - time.monotonic()))):
            group._check()
            others = [r for r in range(group.size()) if r != group.rank()]
            gone = [r for r in others if group._store.check([f"gone/{r}"])]
            if gone == others or time.monotonic() >= end:
                self._fail_any(seconds, [group._ranks[r] for r in gone], gone == others)
        self._work.wait(timeout)
        self._source, self._result, self._finished = self._work._source, self._work._result, True
        return True

    def _fail_any(self, seconds, gone, all_gone):
        words = [] if all_gone else [f"Timed out waiting {seconds * 1000:.0f}ms"]
        words += [f"ranks {gone} have exited or left the group"] if gone else []
        rank = self._group._ranks[self._group.rank()]
        self._error = _C._distributed.DistBackendError(
            f"recv from any rank, tag {self._tag}, failed on rank {rank}: {'; '.join(words)}"
        )
        raise self._error

    def is_completed(self) -> bool:
        """Whether it has ended, well or not."""
        if self._finished or self._error is not None:
            return True
        if not self._find(0.0) or not self._work.is_completed():
            return False
        self.wait()
        return True
