# The CPU's instruction set.


def get_cpu_capability() -> str:
    """The instruction set that kernels run with: "DEFAULT", "AVX2" or "AVX512"."""
    from .. import _C

    return _C._cpu_capability()
