"""torch as the judge, without what only its own tests need. For each seed it reads the source of
the whole call stack for three kinds of devices that it was built without, and twice for each list
of samples to find the name of its own running test: nine tenths of the time of its samples.
"""

import functools


def _disable(module, name):
    @functools.wraps(getattr(module, name))
    def nothing(*args, **kwargs):
        return None

    setattr(module, name, nothing)


@functools.cache
def seed_present_devices():
    """torch.manual_seed no longer queues seeds for devices that are absent."""
    import torch

    for module in (torch.cuda, torch.xpu, torch.mtia):
        if not module.is_available():
            _disable(module, "manual_seed_all")


@functools.cache
def draw_samples_anywhere():
    """The samples of torch's op and module tables no longer look for a test that draws them."""
    from torch.testing._internal import common_utils
    from torch.testing._internal.opinfo import core

    seed_present_devices()
    for module in (common_utils, core):
        _disable(module, "extract_test_fn")
