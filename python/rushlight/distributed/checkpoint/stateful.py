"""Stateful: an object that gives and takes a state dictionary."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """An object with state_dict() and load_state_dict(), which save() and load() call: a module, an
    optimizer, an object of the program.

    >>> isinstance(torch.nn.Linear(2, 1), torch.distributed.checkpoint.stateful.Stateful)
    True
    """

    def state_dict(self) -> dict[str, Any]:
        """What is to be saved."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what was loaded.

        Args:
            state_dict: as state_dict() returned it, with the loaded values.
        """
        ...
