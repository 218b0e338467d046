"""torch.utils.benchmark: timings of short statements, run often enough to be trusted."""

from rushlight.utils.benchmark._compare import Compare
from rushlight.utils.benchmark._measurement import Measurement
from rushlight.utils.benchmark._timer import Language, Timer

__all__ = ["Compare", "Language", "Measurement", "Timer"]
