"""torch.amp.grad_scaler: GradScaler under the path that some programs import it from."""

from rushlight.amp._grad_scaler import GradScaler, OptState

__all__ = ["GradScaler", "OptState"]
