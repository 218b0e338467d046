"""The seeds and states of the default generators, under torch's module path."""

import contextlib

from rushlight import _C
from rushlight._C import default_generator
from rushlight._defaults import get_device_module

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip


def manual_seed(seed) -> _C.Generator:
    """Seeds the generators of all devices; returns the CPU's.

    Args:
        seed: an int of 64 bits; -1 is the same as 2**64 - 1.

    >>> torch.manual_seed(0).initial_seed()
    0
    """
    return _C._manual_seed(seed)


def seed() -> int:
    """Seeds the generators of all devices from the operating system's entropy; returns the seed.

    >>> torch.seed() == torch.initial_seed()
    True
    """
    drawn = default_generator.seed()
    _C._manual_seed_cuda(drawn)
    return drawn


def initial_seed() -> int:
    """The seed of the CPU's generator.

    >>> generator = torch.manual_seed(7)
    >>> torch.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> _C.Tensor:
    """The state of the CPU's generator, 5056 bytes that torch understands too.

    >>> torch.get_rng_state().shape
    torch.Size([5056])
    """
    return default_generator.get_state()


def set_rng_state(new_state: _C.Tensor) -> None:
    """Sets the state of the CPU's generator.

    Args:
        new_state: what get_rng_state() returned

    >>> state = torch.get_rng_state()
    >>> first = torch.rand(2)
    >>> torch.set_rng_state(state)
    >>> torch.equal(torch.rand(2), first)
    True
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, *, device_type=None):
    """Draws inside the block leave the generators outside as they were.

    Args:
        devices: the GPUs whose generators are kept too; all of them if None.
        enabled: False makes the block do nothing.
        device_type: "cuda" or None, "cpu" for the generator of the CPU alone, or "meta", which
            draws nothing.

    Raises:
        RuntimeError: there are no devices of this type.

    >>> _ = torch.manual_seed(1)
    >>> with torch.random.fork_rng():
    ...     _ = torch.rand(3)
    >>> bool(torch.rand(1) == torch.rand(1, generator=torch.Generator().manual_seed(1)))
    True
    """
    if not enabled or device_type == "meta":
        yield
        return
    generators = [default_generator]
    if (device_type or "cuda") == "cuda":
        generators += _gpu_generators(devices)
    else:
        get_device_module(device_type)  # raises where there are none
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
