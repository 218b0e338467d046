"""Algorithms above collectives: uneven inputs, and communication hooks of DDP."""

from rushlight.distributed.algorithms.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
