"""FusedOptimizer: a step is one call over all parameters of a group, on any device.

The formulas are in kernels/optim_formulas.h; the settings of a group and the tensors of a state
have torch's names, by which the call finds them.
"""

from rushlight import _C
from rushlight.optim import _shards
from rushlight.optim.optimizer import Optimizer, check_betas, check_modes, checked, evaluate


class FusedOptimizer(Optimizer):
    """A subclass gives its name among the kernels and the names in its state: `scalars`, one value
    a parameter, begin as 1, and `moments` as zeros."""

    name: str
    scalars: tuple[str, ...] = ()
    moments: tuple[str, ...] = ()

    def __init__(self, params, defaults):
        checked(defaults["lr"], "learning rate")
        checked(defaults.get("eps", 0), "epsilon value")
        if "betas" in defaults:
            check_betas(defaults["betas"])
        checked(defaults.get("weight_decay", 0), "weight_decay value")
        check_modes(defaults["foreach"], defaults.get("fused"), defaults["differentiable"])
        super().__init__(params, defaults)

    def step(self, closure=None):
        """One step; returns what `closure`, which computes the loss again, returned."""
        loss = None if closure is None else evaluate(closure)
        for group in self.param_groups:
            params, grads = self._with_grad(group)
            if not params:
                continue
            if group["differentiable"] or group.get("capturable"):
                check_group(group, params)
            if self._has_shards:
                _shards.step(self, group, params, grads)
                continue
            _C._optimizer_step(self.name, params, grads, self._states(group, params), group)
        return loss

    def _states(self, group, params):
        states = [self.state[p] for p in params]
        for p, state in zip(params, states, strict=True):
            if not state:
                self._begin_state(group, p, state)
        return states

    def _begin_state(self, group, p, state):
        if _shards.is_sharded(p):
            _shards.begin(self, group, p, state)
        else:
            self._begin(group, p, state)

    def _begin(self, group, p, state):
        """Fills the state of a parameter that has had no step."""
        state["step"] = _C.tensor(0.0, dtype=_C.float32)  # on the CPU, as torch keeps it
        for name in self.scalars:
            state[name] = _C.ones((), dtype=_C.float32)
        for name in self.moments:
            state[name] = _C.zeros_like(p)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)
            for p in group["params"]:
                step = self.state.get(p, {}).get("step")
                if step is not None and not isinstance(step, _C.Tensor):
                    self.state[p]["step"] = _C.tensor(float(step), dtype=_C.float32)


def check_group(group, params):
    """What a step refuses that is not torch's default."""
    if group.get("capturable") and not all(p.is_cuda for p in params):
        raise AssertionError(
            "If capturable=True, params and state_steps must be on supported devices: ['cuda']."
        )
    if group["differentiable"]:
        for name, value in group.items():
            if isinstance(value, _C.Tensor) and value.requires_grad:
                raise NotImplementedError(
                    f"differentiable=True with a {name} that requires grad is not in rushlight 0.1"
                )
