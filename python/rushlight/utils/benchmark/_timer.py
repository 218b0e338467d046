"""Timer: timeit that sets the number of threads, waits for GPUs, and chooses how often to run."""

import enum
import timeit
from contextlib import contextmanager
from time import perf_counter

from rushlight import _C
from rushlight.utils.benchmark._measurement import Measurement


def _now():
    from rushlight import cuda

    if cuda.is_initialized():
        cuda.synchronize()
    return perf_counter()


class Language(enum.Enum):
    """The languages of statements, of which Timer takes the first.

    >>> torch.utils.benchmark.Language.PYTHON.value
    0
    """

    PYTHON = 0
    CPP = 1


class Timer:
    """Times a statement.

    Args:
        stmt: what is timed.
        setup: what runs once before each run.
        global_setup: accepted if empty; it is for C++ statements.
        timer: a clock; the default one waits for the GPUs in use.
        globals: the names that the statement sees.
        label: a name of the statement.
        sub_label: a second one.
        description: what is different this time.
        env: a name of the environment.
        num_threads: threads that operations may use.

    >>> timer = torch.utils.benchmark.Timer("x + x", globals={"x": torch.ones(2)})
    >>> timer.timeit(10).number_per_run
    10
    """

    def __init__(
        self, stmt="pass", setup="pass", global_setup="", timer=_now, globals=None, label=None,
        sub_label=None, description=None, env=None, num_threads=1, language="python",
    ):  # fmt: skip
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if str(language).lower() not in ("python", "py", "language.python") or global_setup:
            raise NotImplementedError("Timer of C++ statements is not in rushlight 0.1")
        from textwrap import dedent

        names = dict(globals or {})
        names.setdefault("torch", __import__("rushlight"))
        stmt, setup = dedent(stmt).strip(), dedent(setup).strip()
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._about = {
            "env": env, "label": label, "sub_label": sub_label, "description": description,
            "num_threads": num_threads, "stmt": stmt,
        }  # fmt: skip

    @contextmanager
    def _threads(self):
        before = _C.get_num_threads()
        _C.set_num_threads(self._about["num_threads"])
        try:
            yield
        finally:
            _C.set_num_threads(before)

    def timeit(self, number=1000000):
        """The time of `number` executions, after a few to warm up."""
        with self._threads():
            self._timer.timeit(max(number // 100, 2))
            return Measurement(number, [self._timer.timeit(number)], **self._about)

    def _number(self, seconds):
        """How many executions take that long."""
        number = 1
        while True:
            time = self._timer.timeit(number)
            if time >= seconds or number >= 10**9:
                return number
            number *= 10 if time * 100 < seconds else 2

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Runs of many executions each, for `min_run_time` seconds.

        Args:
            callback: is given the number of executions and the seconds of each run.
            min_run_time: seconds in all.
        """
        with self._threads():
            number = self._number(min_run_time / 1000)
            times = []
            while sum(times) < min_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
            return Measurement(number, times, **self._about)

    def adaptive_autorange(
        self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None
    ):
        """Runs until the quartiles are within `threshold` of the median, or the time is over."""
        with self._threads():
            number = self._number(min_run_time / 10)
            times = []
            while True:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
                found = Measurement(number, times, **self._about)
                steady = len(times) > 3 and found.iqr / found.median < threshold
                if sum(times) >= max_run_time or (steady and sum(times) >= min_run_time):
                    return found
