"""The connectionist temporal classification loss (Graves et al., 2006), in log space.

The labels stand between blanks: 2 s + 1 states. alpha[t, i] is the log-probability of all ways to
be in state i at step t, beta[t, i] that of all ways from there to the end, step t counted in both.
The gradient is torch's: that of the logits before the log_softmax.
"""

import math

from rushlight import _C
from rushlight.autograd.function import Function, once_differentiable
from rushlight.nn._functional.loss import REDUCTIONS

__all__ = ["ctc_loss"]


def _lengths(given, name, batch, limit, device):
    if isinstance(given, _C.Tensor):
        if given.is_floating_point() or given.dtype == _C.bool:
            raise RuntimeError(f"{name} must be integral, got {given.dtype}")
        given = given.reshape(-1).tolist()
    if len(given) != batch:
        raise RuntimeError(f"{name} must be of size batch_size: {len(given)} and {batch}")
    for i, n in enumerate(given):
        if n < 0 or (limit is not None and n > limit):
            raise RuntimeError(
                f"Expected {name} to have value at most {limit} and not negative, but got value "
                f"{n} at position {i} (while checking arguments for ctc_loss)"
            )
    return _C.tensor(given, dtype=_C.int64, device=device)


def _padded_targets(targets, lengths, batch):
    """(n, longest) with zeros behind each target, from that or from one row of all."""
    counts = lengths.tolist()
    longest = max(counts, default=0)
    if targets.dim() == 2:
        if targets.size(0) != batch or targets.size(1) < longest:
            raise RuntimeError(
                f"Expected targets of shape ({batch}, at least {longest}), but got "
                f"{tuple(targets.shape)} (while checking arguments for ctc_loss)"
            )
        rows = targets[:, :longest]
        inside = _C.arange(longest, device=rows.device) < lengths.unsqueeze(1)
        return _C.where(inside, rows, _C.zeros_like(rows)).to(_C.int64)
    if targets.dim() != 1 or targets.size(0) != sum(counts):
        raise RuntimeError(
            f"Expected targets of shape ({sum(counts)},), the sum of target_lengths, but got "
            f"{tuple(targets.shape)} (while checking arguments for ctc_loss)"
        )
    rows = _C.zeros((batch, longest), dtype=_C.int64, device=targets.device)
    for row, part in zip(rows, targets.split(counts), strict=True):
        row[: part.size(0)] = part
    return rows


def _shifted(x, count, dim=-1):
    """x moved by `count` states, -inf where nothing was."""
    edge = (count, 0) if count > 0 else (0, -count)
    wide = _C.constant_pad_nd(x, edge, -math.inf)
    return wide[..., : x.size(-1)] if count > 0 else wide[..., -count:]


def _pick(states, places):
    """states (n, l) at one place of each row, -inf where the place is negative."""
    found = states.gather(1, places.clamp(min=0).unsqueeze(1)).squeeze(1)
    return found.masked_fill(places < 0, -math.inf)


class _States:
    """The states of a batch, and what moves between them."""

    def __init__(self, log_probs, targets, target_lengths, blank):
        n, s = targets.shape
        labels = _C.full((n, 2 * s + 1), blank, dtype=_C.int64, device=log_probs.device)
        labels[:, 1::2] = targets
        self.labels = labels
        self.last = 2 * target_lengths  # the final blank; the final label is before it
        self.exists = _C.arange(2 * s + 1, device=labels.device) <= self.last.unsqueeze(1)
        # A blank between two labels may be left out unless they are the same.
        other = _C.zeros_like(labels, dtype=_C.bool)
        other[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
        self.may_skip = other
        steps = log_probs.size(0)
        emitted = log_probs.gather(2, labels.expand(steps, n, 2 * s + 1))
        self.emitted = emitted.masked_fill(~self.exists, -math.inf)

    def forward(self):
        """alpha (t, n, l)."""
        first = _C.arange(self.labels.size(1), device=self.labels.device) < 2
        alpha = self.emitted[0].masked_fill(~first, -math.inf)
        all_of = [alpha]
        for emitted in self.emitted[1:].unbind(0):
            skipped = _shifted(alpha, 2).masked_fill(~self.may_skip, -math.inf)
            alpha = _C.logaddexp(_C.logaddexp(alpha, _shifted(alpha, 1)), skipped) + emitted
            all_of.append(alpha)
        return _C.stack(all_of)

    def backward(self, input_lengths):
        """beta (t, n, l), -inf behind the end of an input."""
        place = _C.arange(self.labels.size(1), device=self.labels.device)
        last = self.last.unsqueeze(1)
        final = (place == last) | (place == last - 1)
        skips = _C.zeros_like(self.may_skip)
        skips[:, :-2] = self.may_skip[:, 2:]
        nothing = _C.full_like(self.emitted[0], -math.inf)
        beta, all_of = nothing, []
        for t in reversed(range(self.emitted.size(0))):
            emitted = self.emitted[t]
            skipped = _shifted(beta, -2).masked_fill(~skips, -math.inf)
            inner = _C.logaddexp(_C.logaddexp(beta, _shifted(beta, -1)), skipped) + emitted
            start = emitted.masked_fill(~final, -math.inf)
            ends = (input_lengths == t + 1).unsqueeze(1)
            beta = _C.where(ends, start, inner)
            beta = _C.where((input_lengths > t).unsqueeze(1), beta, nothing)
            all_of.append(beta)
        return _C.stack(all_of[::-1])


class _Loss(Function):
    """The negative log-likelihood of each target, (n)."""

    @staticmethod
    def forward(ctx, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
        states = _States(log_probs, targets, target_lengths, blank)
        alpha = states.forward()
        at = (input_lengths - 1).clamp(min=0).reshape(1, -1, 1).expand(1, -1, alpha.size(2))
        ends = alpha.gather(0, at).squeeze(0)
        loss = -_C.logaddexp(_pick(ends, states.last), _pick(ends, states.last - 1))
        empty = _C.where(target_lengths == 0, 0.0, math.inf).to(loss.dtype)
        loss = _C.where(input_lengths == 0, empty, loss)
        ctx.save_for_backward(log_probs, input_lengths, alpha, loss)
        ctx.states, ctx.zero_infinity = states, zero_infinity
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        log_probs, input_lengths, alpha, loss = ctx.saved_tensors
        states = ctx.states
        beta = states.backward(input_lengths)
        share = alpha + beta - states.emitted + loss.unsqueeze(1)
        # -inf - -inf where a state cannot be: it has no share, unless no way leads to the end.
        share = share.exp().masked_fill(~(alpha + beta > -math.inf), 0.0)
        labels = states.labels.expand_as(share)
        expected = _C.zeros_like(log_probs).scatter_add(2, labels, share)
        out = (log_probs.exp() - expected) * grad.unsqueeze(1)
        impossible = (loss == math.inf).unsqueeze(1)
        out = out.masked_fill(impossible, 0.0 if ctx.zero_infinity else math.nan)
        steps = _C.arange(log_probs.size(0), device=log_probs.device).unsqueeze(1)
        return out.masked_fill((steps >= input_lengths).unsqueeze(2), 0.0), *(None,) * 5


def ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean",
    zero_infinity=False,
):  # fmt: skip
    """-log of the probability that the outputs, repeats and blanks removed, spell the target.

    Args:
        input_lengths, target_lengths: of each sequence, tensors or tuples of ints.
        blank: the class that stands for no label.
        reduction: "mean" first divides each loss by the length of its target.
        zero_infinity: targets that cannot be spelt count for nothing.

    Shape: log_probs (t, n, c) or (t, c), targets (n, s) or (sum of target_lengths) or (s).

    >>> torch.nn.functional.ctc_loss(
    ...     torch.zeros(2, 1, 2).log_softmax(2), torch.tensor([[1]]), (2,), (1,)
    ... )
    tensor(0.2877)
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if log_probs.dtype not in (_C.float32, _C.float64):
        name = {_C.float16: "Half", _C.bfloat16: "BFloat16"}.get(log_probs.dtype, "Long")
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{name}'")
    if targets.dtype not in (_C.int64, _C.int32):
        raise RuntimeError(f"Expected targets to be int64 or int32, but got {targets.dtype}")
    batched = log_probs.dim() == 3
    if log_probs.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected log_probs of 2 or 3 dimensions, (t, c) or (t, n, c), got {log_probs.dim()}"
        )
    if not batched:
        log_probs = log_probs.unsqueeze(1)
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range: {blank} is not in [0, {classes})")
    input_lengths = _lengths(input_lengths, "input_lengths", batch, steps, log_probs.device)
    target_lengths = _lengths(target_lengths, "target_lengths", batch, None, log_probs.device)
    rows = _padded_targets(targets.to(log_probs.device), target_lengths, batch)
    if steps == 0:
        raise RuntimeError("ctc_loss: log_probs must not be empty along its first dimension")
    if rows.numel() and not bool(((rows >= 0) & (rows < classes)).all()):
        raise RuntimeError(
            f"ctc_loss: targets lie in [0, {classes}), got {int(rows.min())} to {int(rows.max())}"
        )
    loss = _Loss.apply(log_probs, rows, input_lengths, target_lengths, blank, zero_infinity)
    if zero_infinity:
        loss = loss.masked_fill(loss == math.inf, 0.0)
    if reduction == "mean":
        return (loss / target_lengths.clamp(min=1).to(loss.dtype)).mean()
    if reduction == "sum":
        return loss.sum()
    return loss if batched else loss.squeeze(0)
