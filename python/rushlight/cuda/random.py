# Random numbers on GPUs: each device has a generator of its own. Seeds given before CUDA is in use
# are kept by the core and hold from the first use on.
import os

from .. import _C
from ._device import _cuda, device_count, device_index


def _generator(device="cuda"):
    if isinstance(device, int):
        device = _C.device("cuda", device)
    return _C._default_generator_of(_C.device("cuda", device_index(device)))


def get_rng_state(device="cuda"):
    """The state of a device's generator, as a tensor of bytes on the CPU.

    Args:
        device: index, string or torch.device; the current device by default.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.get_rng_state().dtype
    torch.uint8
    """
    return _generator(device).get_state()


def set_rng_state(new_state, device="cuda") -> None:
    """Restores the state of a device's generator.

    Args:
        new_state: what get_rng_state() gave.
        device: index, string or torch.device; the current device by default.

    >>> with torch.cuda.virtual(1):
    ...     state = torch.cuda.get_rng_state()
    ...     a = torch.rand(3, device="cuda")
    ...     torch.cuda.set_rng_state(state)
    ...     torch.equal(a, torch.rand(3, device="cuda"))
    True
    """
    _generator(device).set_state(new_state)


def get_rng_state_all() -> list:
    """The states of all devices' generators.

    >>> with torch.cuda.virtual(2):
    ...     len(torch.cuda.get_rng_state_all())
    2
    """
    return [get_rng_state(i) for i in range(device_count())]


def set_rng_state_all(new_states) -> None:
    """Restores the states of all devices' generators.

    Args:
        new_states: what get_rng_state_all() gave.

    >>> with torch.cuda.virtual(2):
    ...     torch.cuda.set_rng_state_all(torch.cuda.get_rng_state_all())
    """
    for i, state in enumerate(new_states):
        set_rng_state(state, i)


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator; has no effect where there is no GPU.

    Args:
        seed: an int.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.manual_seed(1)
    ...     a = torch.rand(3, device="cuda")
    ...     torch.cuda.manual_seed(1)
    ...     torch.equal(a, torch.rand(3, device="cuda"))
    True
    """
    if _cuda.is_initialized():
        _generator().manual_seed(int(seed))
    else:
        _C._manual_seed_cuda(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds every device's generator, those of devices to come included.

    Args:
        seed: an int.

    >>> with torch.cuda.virtual(2):
    ...     torch.cuda.manual_seed_all(7)
    ...     torch.cuda.initial_seed()
    7
    """
    _C._manual_seed_cuda(int(seed))


def seed() -> None:
    """Seeds the current device's generator with a random number.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.seed()
    """
    manual_seed(int.from_bytes(os.urandom(8), "little"))


def seed_all() -> None:
    """Seeds every device's generator with the same random number.

    >>> with torch.cuda.virtual(2):
    ...     torch.cuda.seed_all()
    """
    manual_seed_all(int.from_bytes(os.urandom(8), "little"))


def initial_seed() -> int:
    """The seed of the current device's generator.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.manual_seed(7)
    ...     torch.cuda.initial_seed()
    7
    """
    return _generator().initial_seed()
