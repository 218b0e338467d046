"""The average of parameters over the ranks."""

from __future__ import annotations

import rushlight
from rushlight.distributed import _world
from rushlight.distributed._collectives import all_reduce

__all__ = ["average_parameters", "average_parameters_or_parameter_groups"]


def average_parameters(params, process_group=None):
    """Sets parameters to their average over the ranks, which one call sends.

    Args:
        params: the parameters, the same ones on all ranks.
        process_group: the default group where it is None; ranks outside it do nothing.

    >>> average_parameters(model.parameters())  # doctest: +SKIP
    """
    group = process_group if process_group is not None else _world._default()
    params = list(params)
    if group.rank() < 0 or not params:
        return
    with rushlight.no_grad():
        joined = rushlight.cat([p.detach().reshape(-1) for p in params]).div_(group.size())
        all_reduce(joined, group=group)
        parts = joined.split([p.numel() for p in params])
        for p, part in zip(params, parts, strict=True):
            p.copy_(part.view_as(p))


def average_parameters_or_parameter_groups(params, process_group=None):
    """average_parameters() of the parameters that have a gradient.

    Args:
        params: parameters, or an optimizer's groups of them.
        process_group: the default group where it is None.

    >>> average_parameters_or_parameter_groups(optimizer.param_groups)  # doctest: +SKIP
    """
    found = []
    for each in params:
        found += each["params"] if isinstance(each, dict) else [each]
    average_parameters((p for p in found if p.grad is not None), process_group)
