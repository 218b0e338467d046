"""CheckpointException: what failed, on which ranks; and the exchange that finds out."""

from __future__ import annotations

from rushlight.distributed import distributed_c10d as c10d

__all__ = ["CheckpointException"]


class CheckpointException(BaseException):
    """A checkpoint could not be saved or loaded; every rank gets the failures of all.

    Args:
        msg: what was tried.
        failures: from rank to its exception.

    >>> raise CheckpointException("save", {1: OSError("no space")})  # doctest: +SKIP
    """

    def __init__(self, msg, failures):
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self):
        """From rank to its exception."""
        return self._failures

    def __str__(self):
        lines = [f"{type(self).__name__} ranks:{list(self._failures)}: {self.args[0]}"]
        for rank, error in self._failures.items():
            lines.append(f"rank {rank}: {type(error).__name__}: {error}")
        return "\n".join(lines)


class Ranks:
    """The ranks of a checkpoint: a group, or this process alone."""

    def __init__(self, group, no_dist):
        alone = no_dist or not c10d.is_available() or not c10d.is_initialized()
        self.group = None if alone else group or c10d.group.WORLD
        self.rank = 0 if alone else c10d.get_rank(self.group)
        self.size = 1 if alone else c10d.get_world_size(self.group)

    def everybody(self, what, function):
        """The results of `function` on all ranks; if one failed, all raise."""
        try:
            own = True, function()
        except Exception as error:
            own = False, error if self.size == 1 else _sent(error)
        every = [own]
        if self.size > 1:
            every = [None] * self.size
            c10d.all_gather_object(every, own, self.group)
        failures = {rank: found for rank, (good, found) in enumerate(every) if not good}
        if failures:
            raise CheckpointException(what, failures) from next(iter(failures.values()))
        return [found for _, found in every]


def _sent(error):
    """The exception as other ranks can read it."""
    kind = type(error)
    if kind.__module__ != "builtins" or kind.__init__ not in (
        Exception.__init__, OSError.__init__, KeyError.__init__, RuntimeError.__init__,
    ):  # fmt: skip
        return RuntimeError(f"{kind.__name__}: {error}")
    return kind(*[a if isinstance(a, int | str) else str(a) for a in error.args])
