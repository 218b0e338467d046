"""The loop of optimizers whose step is written in ops, one parameter after another."""

from rushlight._grad_mode import no_grad
from rushlight.optim.optimizer import Optimizer, evaluate


class ComposedOptimizer(Optimizer):
    """Subclasses define `_step(group, p, grad)`, which changes one parameter and its state."""

    def step(self, closure=None):
        """One step; returns what `closure`, which computes the loss again, returned."""
        loss = evaluate(closure)
        with no_grad():
            for group in self.param_groups:
                for p, grad in zip(*self._with_grad(group), strict=True):
                    for what, is_so in (
                        ("complex parameters", p.is_complex()),
                        ("sparse gradients", grad.is_sparse),
                    ):
                        if is_so:
                            name = type(self).__name__
                            raise RuntimeError(f"{name} does not support {what}")
                    self._step(group, p, grad)
        return loss
