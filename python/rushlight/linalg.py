"""torch.linalg: factorisations, solving, norms and products of matrices."""

from rushlight import _C, _index, _table
from rushlight._linalg.factors import LinAlgError

_COMPILED = [name for name in vars(_C._linalg) if not name.startswith("_")]
__all__ = ["LinAlgError", *_COMPILED, *_table.names(_index.LINALG)]


def __getattr__(name):
    operation = getattr(_C._linalg, name, None) or _table.find(_index.LINALG, name)
    if operation is None:
        raise AttributeError(f"torch.linalg.{name} is not in rushlight", name=name)
    globals()[name] = operation
    return operation


def __dir__():
    return sorted({*globals(), *__all__})
