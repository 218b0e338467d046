"""The name by which programs with a DataParallel of their own import it."""

from rushlight.cuda._device import _get_device_index

__all__ = ["_get_device_index"]
