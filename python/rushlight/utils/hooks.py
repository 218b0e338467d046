"""What registering a hook returns, under torch's module path."""

from rushlight.nn.modules._hooks import RemovableHandle

__all__ = ["RemovableHandle"]
