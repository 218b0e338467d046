"""Join: ranks that have run out of inputs take part in the collectives of the others."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod

import rushlight
from rushlight.distributed._collectives import all_reduce

__all__ = ["Join", "JoinHook", "Joinable"]

_MANY = 1000  # rounds without inputs before a warning


class JoinHook:
    """What a Joinable does on a rank that has no more inputs.

    >>> class Shadow(torch.distributed.algorithms.JoinHook):
    ...     def main_hook(self):
    ...         torch.distributed.all_reduce(torch.zeros(1))
    """

    def main_hook(self) -> None:
        """Takes part in the collectives of one iteration of the ranks that have inputs."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Is called once no rank has inputs.

        Args:
            is_last_joiner: whether this rank was among the last that had some.
        """


class _Config:
    """Of a Joinable, while a Join is open."""

    def __init__(self, enable=False, throws=False, first=False):
        self.enable, self.throws, self.first = enable, throws, first


class Joinable(ABC):
    """A class whose collectives Join can shadow: DistributedDataParallel, for one.

    Each iteration calls Join.notify_join_context(self) before its collectives.

    >>> issubclass(torch.nn.parallel.DistributedDataParallel, torch.distributed.algorithms.Joinable)
    True
    """

    @abstractmethod
    def __init__(self) -> None:
        self._join_config = _Config()

    @abstractmethod
    def join_hook(self, **kwargs) -> JoinHook:
        """The JoinHook of this object.

        Args:
            kwargs: those that Join was given.
        """

    @property
    @abstractmethod
    def join_device(self):
        """The device of the tensors that Join sends."""

    @property
    @abstractmethod
    def join_process_group(self):
        """The group whose ranks take part."""


class Join:
    """A context in which ranks may have different numbers of inputs.

    Args:
        joinables: the objects that call collectives in each iteration; the first tells the others
            that this rank has inputs.
        enable: False does nothing.
        throw_on_early_termination: raise on all ranks when one has no more inputs.
        kwargs: for the join_hook() of each.

    >>> with Join([model, optimizer]):  # doctest: +SKIP
    ...     for x in batches:
    ...         model(x).sum().backward()
    """

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        for each in joinables:
            if not isinstance(each, Joinable):
                raise TypeError(f"Join(): a Joinable is needed, not {type(each).__name__}")
        self._joinables, self._enable = joinables, enable
        self._throws = throw_on_early_termination
        self._hooks = [each.join_hook(**kwargs) for each in joinables]
        groups = {id(each.join_process_group): each.join_process_group for each in joinables}
        if len(groups) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._group = next(iter(groups.values()))
        self._device = joinables[0].join_device

    def _configure(self, enable):
        for i, each in enumerate(self._joinables):
            each._join_config = _Config(enable, enable and self._throws, i == 0)

    def __enter__(self):
        self._configure(self._enable)

    def __exit__(self, type, value, traceback):
        try:
            if self._enable and not type:
                self._shadow()
        finally:
            self._configure(False)

    def _shadow(self):
        rounds, last = 0, True
        while _sum(0.0, self._device, self._group):
            if self._throws:
                _sum(1.0, self._device, self._group)
                raise RuntimeError(f"Rank {self._rank()} exhausted all inputs.")
            last = False
            for each in self._hooks:
                each.main_hook()
            rounds += 1
            if rounds == _MANY:
                warnings.warn(
                    "Detected uneven input skew of greater than 1000. This means that rank "
                    f"{self._rank()} has at least 1000 fewer inputs than other currently-active "
                    "ranks. This level of skew could lead to performance degradation during "
                    "training.",
                    stacklevel=4,
                )
        for each in self._hooks:
            each.post_hook(last)

    def _rank(self):
        return self._group._ranks[self._group.rank()]

    @staticmethod
    def notify_join_context(joinable):
        """Tells the ranks that have left their loops that this one has inputs.

        Args:
            joinable: the object that calls collectives next.

        Returns: the Work of that; None where `joinable` is not the first of an open Join.
        """
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(
                f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor"
            )
        config = joinable._join_config
        if not config.first or not config.enable:
            return None
        device, group = joinable.join_device, joinable.join_process_group
        work = all_reduce(rushlight.ones(1, device=device), group=group, async_op=True)
        if config.throws and _sum(0.0, device, group):
            raise RuntimeError(
                "Detected at least one rank that exhausted inputs. Throwing across all ranks."
            )
        return work


def _sum(value, device, group):
    number = rushlight.full((1,), value, device=device)
    all_reduce(number, group=group)
    return int(number)
