"""The seeds and states of the default generators, under torch's module path."""

import contextlib

from rushlight import _C
from rushlight._C import default_generator, get_rng_state, initial_seed, manual_seed, seed
from rushlight._C import set_rng_state as set_rng_state

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True):
    """Draws inside the block leave the generators outside as they were.

    Args:
        devices: the GPUs whose generators are kept too; all of them if None.
        enabled: False makes the block do nothing.

    >>> _ = torch.manual_seed(1)
    >>> with torch.random.fork_rng():
    ...     _ = torch.rand(3)
    >>> bool(torch.rand(1) == torch.rand(1, generator=torch.Generator().manual_seed(1)))
    True
    """
    if not enabled:
        yield
        return
    generators = [default_generator, *_gpu_generators(devices)]
    states = [g.get_state() for g in generators]
    try:
        yield
    finally:
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state)


def _gpu_generators(devices):
    from rushlight import cuda

    if devices is None:  # those not in use yet as well: the block may be the first to draw there
        devices = range(cuda.device_count())
    return [_C._default_generator_of(_C.device("cuda", int(d))) for d in devices]
