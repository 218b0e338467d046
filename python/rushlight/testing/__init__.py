"""torch.testing: comparison of results with tolerances, and random tensors to test on."""

from rushlight.testing._comparison import assert_allclose, assert_close
from rushlight.testing._creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
