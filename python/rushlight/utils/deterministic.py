"""torch.utils.deterministic: a switch that programs set beside use_deterministic_algorithms()."""

import sys
from types import ModuleType


class _Deterministic(ModuleType):
    """The module itself, so that its switch can refuse what is no bool."""

    _fill = True

    @property
    def fill_uninitialized_memory(self):
        """Kept and read back: what empty() returns is not filled here, in either state."""
        return self._fill

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, value):
        if type(value) is not bool:
            raise RuntimeError(f"expected a bool, but got {type(value).__name__}")
        self._fill = value


sys.modules[__name__].__class__ = _Deterministic
