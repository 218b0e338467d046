"""Reduction: the gradients of one module, averaged over the ranks, of which each keeps its part.

One reduction is under way at a time, while the backward of the module before computes. Parameters
without a gradient take no part, so all ranks must use the same ones.
"""

from __future__ import annotations

import rushlight
from rushlight._grad_mode import no_grad
from rushlight.distributed._collectives import all_reduce
from rushlight.distributed._exchanges import reduce_scatter_tensor
from rushlight.distributed._reduce_op import ReduceOp
from rushlight.distributed._work import DistBackendError


class Reduction:
    """A reduce-scatter under way.

    `pairs` are (Sharded, its whole gradient); `divisor` None for the average. `over` is the group
    of the ranks that hold the same shard, or None.
    """

    def __init__(self, gathered, pairs, dtype, divisor, over):
        self.params = [each for each, _ in pairs]
        self.divisor, self.over = divisor, over
        total = sum(each.count for each in self.params)
        device = pairs[0][1].device
        with no_grad():
            sent = rushlight.empty(gathered.ranks, total, dtype=dtype, device=device)
            at = 0
            for each, gradient in pairs:
                each.split(sent[:, at : at + each.count], gradient)
                at += each.count
            self.own = rushlight.empty(total, dtype=dtype, device=device)
            self.op = ReduceOp.AVG if divisor is None else ReduceOp.SUM
            self.work = reduce_scatter_tensor(
                self.own, sent, self.op, gathered.group, async_op=True
            )

    def finish(self):
        """Waits, and adds this rank's part to the `grad` of each parameter."""
        with no_grad():
            try:
                self.work.wait()
            except DistBackendError as error:
                names = ", ".join(each.name for each in self.params)
                raise DistBackendError(
                    f"{error}\nthis rank reduces the gradients of {names}: all ranks must use the "
                    "same parameters in each step"
                ) from None
            if self.over is not None:
                all_reduce(self.own, self.op, self.over)
            if self.divisor is not None:
                self.own.div_(self.divisor)
            at = 0
            for each in self.params:
                local = self.own[at : at + each.local_numel].view(each.local_shape)
                self._give(each.parameter, local)
                at += each.count

    @staticmethod
    def _give(parameter, local):
        own = parameter._local_tensor
        local = local.to(own.device, own.dtype)
        if parameter.grad is None:
            parameter.grad = parameter._like(local)
        else:
            parameter.grad._local_tensor.add_(local)
        for hook in list(parameter.__dict__.get("_gradient_hooks", {}).values()):
            hook(parameter)


def add_kept(kept, pairs, dtype):
    """(Sharded, gradient) pairs together with those of earlier backwards that were not reduced."""
    found = {id(each): (each, gradient) for each, gradient in kept}
    with no_grad():
        for each, gradient in pairs:
            earlier = found.get(id(each))
            gradient = gradient.to(dtype)
            found[id(each)] = each, gradient if earlier is None else earlier[1] + gradient
    order = {id(each): i for i, (each, _) in enumerate([*kept, *pairs])}
    return [found[key] for key in sorted(found, key=order.get)]
