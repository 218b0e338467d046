"""torch.cuda.sparse: the types of sparse tensors on GPUs."""

from rushlight.sparse import _TYPES


def __getattr__(name):
    if name in _TYPES:
        from rushlight.sparse._types import make_type

        globals()[name] = made = make_type(name, "cuda")
        return made
    raise AttributeError(f"torch.cuda.sparse.{name} is not in rushlight", name=name)


def __dir__():
    return sorted({*globals(), *_TYPES})
