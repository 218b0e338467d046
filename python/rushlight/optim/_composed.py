"""What the optimizers share that are written with tensor operations instead of one kernel."""

from rushlight import _C
from rushlight._modes import no_grad
from rushlight.optim.optimizer import Optimizer, check_betas, check_modes, checked, evaluate


class ComposedOptimizer(Optimizer):
    """A subclass names its `moments`, which begin as zeros, and defines `_update`, one step."""

    moments: tuple[str, ...] = ()

    def __init__(self, params, defaults):
        checked(defaults["lr"], "learning rate")
        checked(defaults.get("eps", 0), "epsilon value")
        if "betas" in defaults:
            check_betas(defaults["betas"])
        checked(defaults.get("weight_decay", 0), "weight_decay value")
        check_modes(defaults["foreach"], None, defaults["differentiable"])
        super().__init__(params, defaults)

    def step(self, closure=None):
        """One step; returns what `closure`, which computes the loss again, returned."""
        loss = evaluate(closure)
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    grad = p.grad
                    if grad is None:
                        continue
                    state = self.state[p]
                    if not state:
                        self._begin(group, p, state)
                    state["step"] += 1
                    if group["maximize"]:
                        grad = -grad
                    decay = group.get("weight_decay", 0)
                    if decay != 0:
                        if group.get("decoupled_weight_decay", False):
                            p.mul_(1 - float(group["lr"]) * decay)
                        else:
                            grad = grad.add(p, alpha=decay)
                    self._update(group, p, grad, state, float(state["step"]))
        return loss

    def _begin(self, group, p, state):
        state["step"] = new_step()
        for name in self.moments:
            state[name] = _C.zeros_like(p)

    def _update(self, group, p, grad, state, step):
        raise NotImplementedError

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)


def new_step():
    """The step count of a parameter: a float32 tensor on the CPU, as torch keeps it."""
    return _C.tensor(0.0, dtype=_C.float32)
