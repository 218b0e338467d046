# Intel's oneDNN is not used: convolutions are kernels of ours.
enabled = False


def is_available() -> bool:
    """False: rushlight does not use oneDNN."""
    return False
