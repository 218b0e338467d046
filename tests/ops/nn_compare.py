"""compare(): one call here and in torch, forward, gradients and second gradients."""

import numpy as np

import rushlight

TOLERANCE = {"float64": 1e-10, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def array(shape, seed, scale=1.0):
    return np.random.default_rng(seed).standard_normal(shape) * scale


def close(ours, theirs, dtype="float64"):
    """Values, shape and dtype agree."""
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype) == str(theirs.dtype)
    got = np.asarray(ours.detach().cpu().double().tolist())
    want = np.asarray(theirs.detach().double().tolist())
    tolerance = TOLERANCE[dtype] * max(1.0, float(np.nanmax(np.abs(want), initial=0.0)))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def functional(torch, name):
    """A function of torch.nn.functional: ours as C++ offers it."""
    if torch is not rushlight or hasattr(torch._C._functional, name):
        return getattr(torch.nn.functional, name)
    return getattr(torch._C, name)


def compare(reference, call, arrays, device="cpu", dtype="float64", second=True, node=None):
    """call(torch, *tensors) gives the same result, gradients and gradients of gradients."""
    results = []
    for torch in (rushlight, reference):
        where = device if torch is rushlight else "cpu"
        tensors = [
            torch.tensor(a.tolist(), dtype=getattr(torch, dtype), device=where).requires_grad_()
            for a in arrays
        ]
        out = call(torch, *tensors)
        weights = torch.tensor(
            array(tuple(out.shape), 99).tolist(), dtype=out.dtype, device=where
        ).requires_grad_()
        grads = torch.autograd.grad(out, tensors, grad_outputs=weights, create_graph=second)
        both = [out, *grads]
        if second:
            along = [
                torch.tensor(array(tuple(g.shape), i).tolist(), dtype=g.dtype, device=where)
                for i, g in enumerate(grads)
            ]
            twice = torch.autograd.grad(
                grads, [*tensors, weights], grad_outputs=along, allow_unused=True
            )
            both += [
                g if g is not None else torch.zeros_like(t)
                for t, g in zip([*tensors, weights], twice, strict=True)
            ]
        results.append((both, out.grad_fn))
    for ours, theirs in zip(results[0][0], results[1][0], strict=True):
        close(ours, theirs, dtype)
    if node is not False:
        assert results[0][1].name() == (node or results[1][1].name())
