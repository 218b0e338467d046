"""compare(): one call here and in torch, forward, gradients and second gradients."""

import numpy as np

import rushlight
from tests.compare import TOLERANCE, same_as_torch, values_of


def array(shape, seed, scale=1.0):
    return np.random.RandomState(seed).standard_normal(shape) * scale


def close(ours, theirs, dtype="float64"):
    """The same, where results are sums of many terms: relative to the largest value."""
    kept = np.ma.compressed(np.abs(values_of(theirs)))
    largest = float(np.nanmax(kept, initial=0.0))
    slack = {"float64": 100, "float32": 7}.get(dtype, 1)
    same_as_torch(ours, theirs, rtol=slack * TOLERANCE[dtype] * max(1.0, largest))


def functional(torch, name):
    """A function of torch.nn.functional: ours as C++ offers it."""
    if torch is not rushlight or hasattr(torch._C._nn, name):
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
