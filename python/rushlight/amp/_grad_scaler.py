"""GradScaler: losses multiplied so that gradients of float16 stay in range; steps that overflow
are skipped.
"""

import enum
import warnings

from rushlight import _C, cuda
from rushlight._grad_mode import no_grad


class OptState(enum.Enum):
    """What an optimizer had done to its gradients since the last update()."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _OfOptimizer:
    """The state of one optimizer since the last update()."""

    def __init__(self):
        self.stage = OptState.READY
        self.found_inf = None  # None until its gradients were looked at


class GradScaler:
    """Scales losses, unscales gradients, and adapts the scale.

    Each step whose gradients hold an infinity or NaN is skipped, and the scale is multiplied by
    `backoff_factor`; after `growth_interval` steps without one it grows by `growth_factor`.

    Args:
        device: "cuda" or "cpu".
        init_scale: the first scale.
        growth_factor: above 1.
        backoff_factor: below 1.
        growth_interval: steps without an overflow before the scale grows.
        enabled: False makes scale() return its argument and step() a plain step.

    >>> weight = torch.nn.Parameter(torch.ones(1))
    >>> optimizer = torch.optim.SGD([weight], lr=0.5)
    >>> scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    >>> scaler.scale((weight * 2).sum()).backward()
    >>> weight.grad
    tensor([16.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> weight.detach()
    tensor([0.])
    """

    __module__ = "rushlight.amp.grad_scaler"

    def __init__(
        self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5,
        growth_interval=2000, enabled=True,
    ):  # fmt: skip
        self._device = str(device)
        self._enabled = bool(enabled)
        if self._enabled and self._device == "cuda" and not cuda.is_available():
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._scale = float(init_scale)
        self._in_use = False  # whether scale() has been called
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._optimizers = {}

    def scale(self, outputs):
        """`outputs`, a tensor or an iterable of tensors, multiplied by the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, _C.Tensor):
            self._in_use = True
            return outputs * _C.full((), self._scale, dtype=_C.float32, device=outputs.device)
        try:
            parts = [self.scale(part) for part in outputs]
        except TypeError:
            raise ValueError("outputs must be a Tensor or an iterable of Tensors") from None
        return type(outputs)(parts) if isinstance(outputs, list | tuple) else iter(parts)

    def _state_of(self, optimizer, call):
        if not self._in_use:
            raise AssertionError(
                f"Attempted {call} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._optimizers.setdefault(id(optimizer), _OfOptimizer())

    def unscale_(self, optimizer):
        """Divides the gradients of an optimizer's parameters by the scale, for clipping.

        Raises:
            RuntimeError: the second time before update(), or after step().
        """
        if not self._enabled:
            return
        state = self._state_of(optimizer, "unscale_")
        if state.stage is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state.stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        grads = [
            p.grad for group in optimizer.param_groups for p in group["params"]
            if p.grad is not None
        ]  # fmt: skip
        if any(g.dtype == _C.float16 for g in grads):
            raise ValueError(
                "Attempting to unscale FP16 gradients.\n"
                "keep the parameters in float32: autocast makes the short copies"
            )
        with no_grad():
            bad = [not _C.isfinite(g).all() for g in grads]
            for g in grads:
                g.mul_(1.0 / self._scale)
        state.found_inf = any(bad) if grads else None
        state.stage = OptState.UNSCALED

    def step(self, optimizer, *args, **kwargs):
        """The optimizer's step on unscaled gradients; skipped if one is not finite.

        Returns:
            what the step returns; None if it is skipped.

        Raises:
            RuntimeError: the second time before update(), or with a closure.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        state = self._state_of(optimizer, "step")
        if state.stage is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state.stage is OptState.READY:
            self.unscale_(optimizer)
        if state.found_inf is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if state.found_inf else optimizer.step(*args, **kwargs)
        state.stage = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """Adapts the scale by what the steps since the last update() have found.

        Args:
            new_scale: a float or a tensor of one element that becomes the scale instead.
        """
        if not self._enabled:
            return
        if not self._in_use:
            self._state_of(None, "update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            found = [s.found_inf for s in self._optimizers.values() if s.found_inf is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(found):
                self._scale *= self._backoff_factor
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    self._scale *= self._growth_factor
                    self._growth_tracker = 0
        self._optimizers = {}

    def get_scale(self):
        """The scale; 1.0 where scaling is off."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self):
        """The factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Sets by what the scale grows: `new_factor`, above 1."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """What the scale is multiplied by after an overflow."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Sets what the scale is multiplied by after an overflow: `new_factor`, below 1."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """After how many steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Sets after how many steps the scale grows: `new_interval`."""
        self._growth_interval = new_interval

    def is_enabled(self):
        """Whether losses are scaled."""
        return self._enabled

    def state_dict(self):
        """The scale and what adapts it; empty where scaling is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict):
        """Restores a `state_dict`.

        Raises:
            RuntimeError: for the empty state of a scaler that was off.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker")
        scale, growth, backoff, interval, tracker = (state_dict[name] for name in names)
        self._scale, self._growth_factor, self._backoff_factor = scale, growth, backoff
        self._growth_interval, self._growth_tracker = interval, tracker
