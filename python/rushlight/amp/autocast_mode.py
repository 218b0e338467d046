"""torch.amp.autocast_mode: autocast under the path that some programs import it from."""

from rushlight.amp._autocast import autocast, custom_bwd, custom_fwd, is_autocast_available

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
