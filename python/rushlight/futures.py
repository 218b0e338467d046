"""Futures: results that are to come, from collectives or from threads.

A future of a collective is completed by the thread that waits for it, so that callbacks run in the
order in which they are waited for; a thread waits only where a callback would else not run.
"""

from __future__ import annotations

import threading
import traceback
from typing import Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
_in_hook = threading.local()  # .on: the caller will wait for every future, in its order


class Future(Generic[T]):
    """A value, or an error, that is to come.

    Args:
        devices: accepted for GPUs, whose streams need no care here.

    >>> future = torch.futures.Future()
    >>> double = future.then(lambda f: 2 * f.value())
    >>> future.set_result(21)
    >>> double.wait()
    42
    """

    def __init__(self, *, devices=None):
        from rushlight import _C

        for each in devices or ():
            if _C.device(each).index is None:
                raise ValueError(f"Expected devices to have indices, got {_C.device(each)}")
        self._changed = threading.Condition()
        self._done, self._value, self._error = False, None, None
        self._callbacks, self._source = [], None

    def done(self) -> bool:
        """Whether there is a value or an error."""
        if not self._done and self._source is not None:
            self._source.poll(self)
        return self._done

    def wait(self) -> T:
        """Waits for the value, and returns it, or raises the error."""
        self._settle()
        return self.value()

    def value(self) -> T:
        """The value of a future that is done, or its error raised.

        Raises:
            RuntimeError: it is not done.
        """
        if not self._done:
            raise RuntimeError("this Future has no value yet\nwait() waits for it")
        if self._error is not None:
            raise self._error
        return self._value

    def then(self, callback):
        """A future of what `callback(self)` returns, once this one is done.

        Args:
            callback: a function of this future; its error is that of the new future.

        Returns: the new future.
        """
        _check_callable(callback, "then")
        child: Future = Future()
        child._source = _After([self])

        def run(future):
            try:
                value = callback(future)
            except Exception as error:
                words = f"{type(error).__name__}: {error}"
                failed = RuntimeError(f"Got the following error when running the callback: {words}")
                failed.__cause__ = error
                child._end(None, failed)
            else:
                child._end(value, None)

        self._when_done(run)
        return child

    def add_done_callback(self, callback) -> None:
        """Calls `callback(self)` once this future is done; its error is printed.

        Args:
            callback: a function of this future.
        """
        _check_callable(callback, "add_done_callback")

        def run(future):
            try:
                callback(future)
            except Exception:
                traceback.print_exc()

        self._when_done(run)

    def set_result(self, result: T) -> None:
        """Completes the future.

        Args:
            result: its value.

        Raises:
            RuntimeError: it is done already.
        """
        self._end_once(result, None)

    def set_exception(self, result) -> None:
        """Completes the future with an error, which wait() and value() raise.

        Args:
            result: an exception.

        >>> future = torch.futures.Future()
        >>> future.set_exception(ValueError("no data"))
        >>> future.wait()
        Traceback (most recent call last):
        ...
        ValueError: no data
        """
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._end_once(None, result)

    def _end_once(self, value, error):
        if not self._end(value, error):
            raise RuntimeError(
                "Attempting to mark a completed Future as complete again. Note that a Future can "
                "only be marked completed once."
            )

    def _end(self, value, error):
        """Whether it was not done before."""
        with self._changed:
            if self._done:
                return False
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for each in callbacks:
            each(self)
        return True

    def _when_done(self, run):
        with self._changed:
            late = self._done
            if not late:
                self._callbacks.append(run)
                first = len(self._callbacks) == 1
        if late:
            run(self)
        elif first and isinstance(self._source, _OfWork) and not getattr(_in_hook, "on", False):
            threading.Thread(target=self._settle, daemon=True).start()

    def _settle(self):
        """Returns when it is done."""
        if not self._done and self._source is not None:
            self._source.settle(self)
        with self._changed:
            self._changed.wait_for(lambda: self._done)


class _OfWork:
    """What completes the future of a collective."""

    def __init__(self, work):
        self.work = work

    def settle(self, future):
        try:
            self.work.wait()
        except Exception as error:
            future._end(None, error)
        else:
            future._end(self.work._result, None)

    def poll(self, future):
        if self.work.is_completed():
            self.settle(future)


class _After:
    """What completes a future that comes after others: its callback on them."""

    def __init__(self, futures):
        self.futures = futures

    def settle(self, future):
        for each in self.futures:
            each._settle()

    def poll(self, future):
        all(each.done() for each in self.futures)


def _of_work(work):
    future: Future = Future()
    future._source = _OfWork(work)
    return future


def _check_callable(callback, name):
    if not callable(callback):
        raise TypeError(f"{name}(): callback must be a function, not {type(callback).__name__}")


def collect_all(futures):
    """A future of the list of these futures, which is done when all are.

    Args:
        futures: a list.

    Returns: the new future.

    >>> a, b = torch.futures.Future(), torch.futures.Future()
    >>> both = torch.futures.collect_all([a, b])
    >>> a.set_result(1), b.set_result(2)
    (None, None)
    >>> [future.value() for future in both.wait()]
    [1, 2]
    """
    futures = list(futures)
    for each in futures:
        if not isinstance(each, Future):
            raise TypeError(f"collect_all(): futures are needed, not {type(each).__name__}")
    every: Future = Future()
    every._source = _After(futures)
    left, lock = [len(futures)], threading.Lock()

    def run(_):
        with lock:
            left[0] -= 1
            last = not left[0]
        if last:
            failed = [f._error for f in futures if f._error is not None]
            every._end(futures, failed[0] if failed else None)

    for each in futures:
        each._when_done(run)
    if not futures:
        every._end([], None)
    return every


def wait_all(futures):
    """Waits for all futures; the list of their values.

    Args:
        futures: a list.

    Returns: the list.

    >>> future = torch.futures.Future()
    >>> future.set_result("here")
    >>> torch.futures.wait_all([future])
    ['here']
    """
    return [future.value() for future in collect_all(futures).wait()]
