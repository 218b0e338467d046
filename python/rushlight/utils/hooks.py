"""What registering a hook gives back, under torch's module path."""

from rushlight.nn.modules._hooks import RemovableHandle

__all__ = ["RemovableHandle"]
