"""What a function under vmap() cannot do: read values, or make shapes that depend on them."""

from rushlight._func.dispatch import _SHAPES, RULES, rule

_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
    ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error "
    "is occurring somewhere inside PyTorch internals, please file a bug report."
)
_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. "
    "We don't support that yet, please file an issue at "
    "https://github.com/pytorch/pytorch/issues ."
)
_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
_BACKWARD = (
    "backward() called inside a functorch transform. This is not supported, please use "
    "functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms."
)
_MASKED = (
    "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this "
    "because for each batch this would return a differently shaped Tensor. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues if you need this feature."
)


def _refuse(text):
    def refused(level, func, *args, **kwargs):
        raise RuntimeError(text)

    return refused


for _names, _text in (
    ("item __float__ __int__ __index__ __complex__", _ITEM),
    ("__bool__ is_nonzero __contains__", _FLOW),
    ("tolist numpy __array__ data_ptr untyped_storage storage __dlpack__", _STORAGE),
    ("backward", _BACKWARD),
    ("masked_select", _MASKED),
):
    for _name in _names.split():
        RULES[_name] = _refuse(_text)


@rule("nonzero unique unique_consecutive argwhere")
def dynamic(level, func, *args, **kwargs):
    """Results whose shape depends on values."""
    raise RuntimeError(_SHAPES.format(func.__name__))


@rule("equal allclose resize_ resize_as_ set_")
def no_bool(level, func, *args, **kwargs):
    """Results that are no tensors."""
    if func.__name__ == "allclose":
        raise RuntimeError(
            "vmap over torch.allclose isn't supported yet. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    raise RuntimeError(
        f"Batching rule not implemented for aten::{func.__name__}. We could not generate a "
        "fallback."
    )
