"""Learning rate schedules: the names of torch.optim.lr_scheduler, from the files in _schedules."""

from rushlight import _table
from rushlight.optim._schedules import base, closed_form, combined, cyclic, plateau

__all__ = [
    *base.__all__,
    *combined.__all__,
    *cyclic.__all__,
    *plateau.__all__,
    *closed_form.__all__,
]

for _part in (base, combined, cyclic, plateau, closed_form):
    for _name in _part.__all__:
        _class = getattr(_part, _name)
        _class.__module__ = __name__
        globals()[_name] = _class

_LRScheduler = base.LRScheduler


def __getattr__(name):
    raise AttributeError(_table.absent(f"torch.optim.lr_scheduler.{name}"), name=name)
