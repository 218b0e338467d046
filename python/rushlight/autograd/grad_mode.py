"""The modes under the path that programs import them from."""

from rushlight._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_enabled = True  # as it was set; backward() runs in the thread that calls it in any case


class set_multithreading_enabled:
    """Whether backward() may use threads of its own: at once, and for a `with` block. It uses none.

    Args:
        mode: whether it may.

    >>> with torch.autograd.grad_mode.set_multithreading_enabled(False) as mode:
    ...     mode is None
    True
    """

    def __init__(self, mode: bool) -> None:
        global _enabled
        self.prev, self.mode = _enabled, mode
        _enabled = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        global _enabled
        _enabled = self.prev

    def clone(self) -> "set_multithreading_enabled":
        """One that has the same mode."""
        return type(self)(self.mode)
