"""torch.cpu.amp: the older names of torch.amp for the CPU."""

from rushlight.cpu.amp.autocast_mode import autocast
from rushlight.cpu.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
