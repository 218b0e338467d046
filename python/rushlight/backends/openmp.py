# OpenMP is not used: the thread pool is our own.


def is_available() -> bool:
    """False: rushlight has a thread pool of its own."""
    return False
