"""Whether mixed precision can be had on GPUs."""

from rushlight import cuda

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available():
    """True where there is no GPU.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.amp.common.amp_definitely_not_available()
    False
    """
    return not cuda.is_available()
