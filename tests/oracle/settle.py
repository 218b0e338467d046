"""What torch leaves open: which of equal elements is meant, and the signs of vectors. Ours are
changed into torch's where both are right, so that what follows can be compared."""

import torch

from tests.oracle import ops
from tests.oracle.transfer import Carrier, leaves, to_torch


def settled(op, mine, yours, operands, kwargs):
    """Our result with torch's choices; `mine` itself where they are the same."""
    if op.name in ops.VECTORS:
        return signs_settled(op, mine, yours)
    return ties_settled(op, mine, yours, operands, kwargs)


def signs_settled(op, mine, yours):
    """Singular and eigenvectors are open up to a sign (complex ones: a phase), those of no singular
    value to a rotation."""
    ours, theirs = list(leaves(mine)), leaves(yours)
    if any(tuple(a.shape) != tuple(b.shape) for a, b in zip(ours, theirs, strict=False)):
        return mine
    vectors, changed = ops.VECTORS[op.name], False
    signs = None
    for i, rows in vectors:
        a, b = to_torch(ours[i]), theirs[i].detach()
        if rows:
            a, b = a.mT, b.mT
        if not a.numel():
            return mine
        count = theirs[1].shape[-1] if len(vectors) > 1 else a.shape[-1]
        if signs is None:  # those of the first vectors hold for their partners too
            along = (a.conj() * b).sum(-2)[..., :count]
            signs = torch.where(along == 0, torch.ones_like(along), along.sgn())
        factors = torch.ones(a.shape[:-2] + a.shape[-1:], dtype=a.dtype)
        factors[..., :count] = signs.conj() if rows else signs
        matched = a * factors.unsqueeze(-2)
        rest, its_rest = a[..., count:], b[..., count:]
        if torch.allclose(rest @ rest.mH, its_rest @ its_rest.mH, 1e-3, 1e-4):
            matched[..., count:] = its_rest
        if torch.equal(matched, a):
            continue
        changed = True
        # Of the same history and strides as ours.
        laid = torch.empty_strided(tuple(ours[i].shape), ours[i].stride(), dtype=a.dtype)
        laid.copy_(matched.mT if rows else matched)
        ours[i] = ours[i] * 0 + Carrier().tensor(laid)
    return ours if changed else mine


def ties_settled(op, mine, yours, operands, kwargs):
    """Ours with torch's indices where both point to equal elements: torch leaves that open."""
    if op.name not in ops.OPEN_ORDER or kwargs.get("stable") is True:
        return mine
    pairs = [(i, b) for i, b in enumerate(leaves(yours)) if b.dtype == torch.int64]
    if not pairs or not isinstance(operands[0], torch.Tensor):
        return mine
    i, theirs = pairs[-1]
    ours = leaves(mine)
    if len(ours) <= i or tuple(ours[i].shape) != tuple(theirs.shape):
        return mine
    x = operands[0].detach()
    dim = kwargs.get("dim", ops.dim_given(op, operands))
    if x.dim() == 0 or theirs.dim() not in (x.dim(), x.dim() - 1):
        return mine
    indices = to_torch(ours[i])
    if theirs.dim() < x.dim():
        indices, theirs = indices.unsqueeze(dim), theirs.unsqueeze(dim)
    if indices.numel() and (indices.min() < 0 or indices.max() >= x.shape[dim]):
        return mine
    here, there = x.gather(dim, indices), x.gather(dim, theirs)
    if not torch.equal(torch.nan_to_num(here.double()), torch.nan_to_num(there.double())):
        return mine
    if torch.equal(indices.reshape(theirs.shape), theirs):
        return mine
    settled = list(ours)
    settled[i] = Carrier().tensor(leaves(yours)[i])
    return settled
