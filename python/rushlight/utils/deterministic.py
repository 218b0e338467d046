"""torch.utils.deterministic: a switch that programs set beside use_deterministic_algorithms()."""

import sys
from types import ModuleType

from rushlight import _determinism


class _Deterministic(ModuleType):
    """The module itself, so that its switch can refuse what is no bool."""

    @property
    def fill_uninitialized_memory(self):
        """Whether empty() and its like fill what they give with NaN or the largest integer, while
        use_deterministic_algorithms() is on; True unless set.
        """
        return _determinism.fills_new_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, value):
        if type(value) is not bool:
            raise RuntimeError(f"expected a bool, but got {type(value).__name__}")
        _determinism.fill_new_memory(value)


sys.modules[__name__].__class__ = _Deterministic
