"""What gradcheck asks of batches: vmap over a product of the Jacobian gives the products one by
one."""

import rushlight
from rushlight import _C
from rushlight.autograd._backward import grad

kBatch = 2


def _difference(product, seeds, what):
    """Words about how a batch of products differs from the products, or None."""
    one_by_one = [_C.stack(parts) for parts in zip(*map(product, seeds), strict=True)]
    try:
        batched = rushlight.vmap(product)(_C.stack(seeds))
    except RuntimeError as error:
        return f"While computing batched gradients, got: {error}"
    for k, (got, want) in enumerate(zip(batched, one_by_one, strict=True)):
        if not _C.allclose(got, want):
            return (
                f"For {what} {k}, a batch of gradients (by vmap) is not the gradients one by one:\n"
                f"Got:\n{got}\nExpected:\n{want}"
            )
    return None


def backward_difference(output, inputs):
    """Of gradients of `inputs` for a batch of gradients of `output`."""

    def product(seed):
        found = grad(output, inputs, seed, retain_graph=True, allow_unused=True)
        return tuple(
            _C.zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)
        )

    seeds = [_C.randn_like(output.detach()) for _ in range(kBatch)]
    return _difference(product, seeds, "input")


def forward_difference(func, inputs, at):
    """Of tangents of the outputs for a batch of tangents of the input at the index `at`."""
    forward_ad = rushlight.autograd.forward_ad

    def product(tangent):
        with forward_ad.dual_level():
            values = [x.detach() if isinstance(x, _C.Tensor) else x for x in inputs]
            values[at] = forward_ad.make_dual(values[at], tangent)
            outputs = func(*values)
            pairs = map(forward_ad.unpack_dual, outputs)
            return tuple(_C.zeros_like(p) if t is None else t for p, t in pairs)

    seeds = [_C.randn_like(inputs[at].detach()) for _ in range(kBatch)]
    return _difference(product, seeds, "output")
