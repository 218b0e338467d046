# Apple's GPUs: there are none here.


def is_available() -> bool:
    """False: rushlight has no Metal devices."""
    return False


def is_built() -> bool:
    """False: rushlight has no Metal devices."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """False: rushlight has no Metal devices."""
    return False
