# Intel's MKL is not used: matrix products come from OpenBLAS or from a kernel of ours.


def is_available() -> bool:
    """False: rushlight does not use MKL."""
    return False
