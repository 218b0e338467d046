"""Saving and copying sparse tensors, under the names that torch's files have."""

from rushlight._sparse import layouts
from rushlight._sparse.dispatch import rule
from rushlight._sparse.tensor import with_values


@rule("reduce")
def reduced(x):
    """What Tensor.__reduce_ex__ gives for a sparse tensor."""
    from rushlight import _utils

    if x.layout_name == "sparse_coo":
        parts = (x._i, x._v.detach(), x._size, x._coalesced)
    else:
        parts = (x._c, x._p, x._v.detach(), x._size)
    return _utils._rebuild_sparse_tensor, (getattr(layouts, x.layout_name), parts)


@rule("deepcopy")
def deep_copy(x, memo):
    """copy.deepcopy(x): a leaf with parts of its own."""
    if id(x) in memo:
        return memo[id(x)]
    if not x._v.is_leaf or x._node is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.\ncopy tensor.detach() instead"
        )
    made = with_values(x, x._v.detach().clone())
    for name in ("_i", "_c", "_p"):
        if name in vars(made):
            setattr(made, name, getattr(made, name).clone())
    if x._v.requires_grad:
        made._v.requires_grad_()
        if x._v.grad is not None:
            made._v.grad = x._v.grad.clone()
    memo[id(x)] = made
    return made
