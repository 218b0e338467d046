"""torch.amp: mixed precision. autocast picks the dtype of each operation, GradScaler keeps small
gradients of float16 from vanishing.
"""

from rushlight.amp import autocast_mode, grad_scaler
from rushlight.amp._autocast import autocast, custom_bwd, custom_fwd, is_autocast_available
from rushlight.amp._grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
