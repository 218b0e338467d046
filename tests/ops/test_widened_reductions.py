"""Reductions of 16-bit floats with dtype=float32: what the input in float32 gives, without that
copy of it; the gradients come back in the input's dtype."""

import pytest

import rushlight
from tests.ops.nn_compare import array, compare

t = rushlight
REDUCTIONS = {
    "sum": lambda x, **d: x.sum(1, **d),
    "sum of all": lambda x, **d: x.sum(**d),
    "mean": lambda x, **d: x.mean((0, 2), **d),
    "nansum": lambda x, **d: x.nansum(-1, **d),
    "norm": lambda x, **d: t.linalg.vector_norm(x, 2, 2, **d),
    "1-norm": lambda x, **d: t.linalg.vector_norm(x, 1, 0, **d),
    "3-norm": lambda x, **d: t.linalg.vector_norm(x, 3, 1, **d),
    "half-norm": lambda x, **d: t.linalg.vector_norm(x, 0.5, 1, **d),
    "largest": lambda x, **d: t.linalg.vector_norm(x, float("inf"), 1, **d),
    "count": lambda x, **d: t.linalg.vector_norm(x, 0, 1, **d),
    "named": lambda x, **d: t.norm(x, "fro", (0, 1), True, **d),
}
LAYOUTS = (
    lambda x: x,
    lambda x: x.mT,
    lambda x: x[:, ::2],
    lambda x: x[:1].expand(3, 33, 34),
)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_of_16_bits_in_float32(name, dtype, device):
    reduce = REDUCTIONS[name]
    values = (t.arange(5 * 33 * 34) * 37).remainder(101).sub(50) / 8 + 0.0625
    for layout in (
        lambda x: x,
        lambda x: x.mT,
        lambda x: x[:, ::2],
        lambda x: x[:1].expand(3, 33, 34),
    ):
        x = layout(values.reshape(5, 33, 34).to(device, getattr(t, dtype))).detach()
        x.requires_grad_()
        wide = x.detach().float().requires_grad_()
        found, wanted = reduce(x, dtype=t.float32), reduce(wide)
        assert found.dtype == t.float32
        assert found.shape == wanted.shape
        assert t.allclose(found, wanted, rtol=1e-5), name
        if found.requires_grad:
            weights = t.arange(found.numel(), device=device).view(found.shape).float() + 1
            (found * weights).sum().backward()
            (wanted * weights).sum().backward()
            if wide.grad is None:
                assert x.grad is None
                continue
            assert x.grad.dtype == x.dtype
            assert t.allclose(x.grad.float(), wide.grad, rtol=2e-2, atol=1e-5), name


def test_cosine_similarity_of_all_pairs(reference, device):
    """Rows are normalized before they are broadcast, unless the vectors themselves are."""
    for shapes, dim in [
        ([(5, 1, 4), (1, 6, 4)], 2),
        ([(5, 1, 4), (1, 6, 4)], -1),
        ([(3, 4), (2, 3, 4)], 1),
        ([(3, 1), (2, 3, 4)], 2),
        ([(3,), (2, 4, 3)], 1),
        ([(), (3,)], 0),
        ([(), ()], 0),
    ]:

        def similarity(torch, x, y, dim=dim):
            return torch.nn.functional.cosine_similarity(x, y, dim)

        arrays = [array(shape, k) for k, shape in enumerate(shapes)]
        compare(reference, similarity, arrays, device, node=False)
