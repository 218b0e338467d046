"""Batch normalisation over all ranks of a process group, and its gradient: each rank sends mean,
variance and count of its share, so that shares may differ, or be empty; backward sends two sums for
each channel. And the older response norm of images.
"""

from __future__ import annotations

import rushlight
from rushlight.autograd.function import Function


class SyncBatchNorm(Function):
    """(x - mean) / sqrt(var + eps) * weight + bias, with mean and var of all ranks' x."""

    @staticmethod
    def forward(ctx, x, weight, bias, running_mean, running_var, eps, momentum, group):
        from rushlight.distributed import all_gather_into_tensor

        wide = _wide(x)
        channels, dims = x.size(1), _dims(x)
        own = wide.new_zeros(2 * channels + 1)
        if x.numel():
            var, mean = rushlight.var_mean(wide, dims, correction=0)
            own[:channels], own[channels:-1], own[-1] = mean, var, x.numel() // channels
        every = own.new_empty(group.size(), own.numel())
        all_gather_into_tensor(every, own, group)
        means, variances, counts = every.split([channels, channels, 1], 1)
        total = counts.sum()
        mean = (means * counts).sum(0) / total
        var = ((variances + (means - mean).square()) * counts).sum(0) / total
        if running_mean is not None:
            unbiased = var * (total / (total - 1).clamp(min=1))
            running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
            running_var.mul_(1 - momentum).add_(unbiased, alpha=momentum)
        inverse = (var + eps).rsqrt()
        ctx.save_for_backward(x, weight, mean, inverse, total)
        ctx.group = group
        scale = inverse if weight is None else inverse * weight
        shift = -mean * scale if bias is None else bias - mean * scale
        out = rushlight.addcmul(_column(shift, x), wide, _column(scale, x))
        return out.to(x.dtype)

    @staticmethod
    def backward(ctx, gradient):
        from rushlight.distributed import all_reduce

        x, weight, mean, inverse, total = ctx.saved_tensors
        wide, g, dims = _wide(x), _wide(gradient), _dims(x)
        centred = wide - _column(mean, x)
        sums = rushlight.stack([g.sum(dims), (g * centred).sum(dims)])
        for_weight = for_bias = for_x = None
        if weight is not None and ctx.needs_input_grad[1]:
            for_weight = (sums[1] * inverse).to(weight.dtype)
        if ctx.needs_input_grad[2]:
            for_bias = sums[0].to(gradient.dtype if weight is None else weight.dtype, copy=True)
        if ctx.needs_input_grad[0]:
            all_reduce(sums, group=ctx.group)
            means = sums / total
            scale = inverse if weight is None else inverse * weight
            by_x = -means[1] * inverse.square()
            inner = rushlight.addcmul(g - _column(means[0], x), centred, _column(by_x, x))
            for_x = (inner * _column(scale, x)).to(x.dtype)
        return for_x, for_weight, for_bias, None, None, None, None, None


def _wide(x):
    """In float32 at least."""
    return x.float() if x.dtype in (rushlight.float16, rushlight.bfloat16) else x


def _dims(x):
    return [0, *range(2, x.dim())]


def _column(values, x):
    """One value for each channel, to be broadcast with x."""
    return values.view(1, -1, *[1] * (x.dim() - 2))


class CrossMapLRN2d(Function):
    """x / (k + alpha * mean of x^2 over neighbouring channels)^beta, as torch computes it: nothing
    takes the first channel's square out of a sum again, and backward's windows lie one channel off.
    """

    @staticmethod
    def forward(ctx, input, size, alpha=1e-4, beta=0.75, k=1):
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        square = input.square()
        channels, reach = input.size(1), (size + 1) // 2
        steps = rushlight.zeros_like(square)  # from one channel's sum to the next one's
        steps[:, 0] = square[:, :reach].sum(1)
        if channels > reach:
            steps[:, 1 : channels - reach + 1] += square[:, reach:]
            steps[:, reach + 1 :] -= square[:, 1 : channels - reach]
        scale = steps.cumsum(1) * (alpha / size) + k
        output = input * scale.pow(-beta)
        ctx.save_for_backward(input, output, scale)
        ctx.size, ctx.alpha, ctx.beta = size, alpha, beta
        return output

    @staticmethod
    def backward(ctx, gradient):
        input, output, scale = ctx.saved_tensors
        ahead = (ctx.size + 1) // 2
        ratio = rushlight.nn.functional.pad(
            gradient * output / scale, (0, 0, 0, 0, ahead, ctx.size - 1 - ahead)
        )
        sums = ratio.unfold(1, ctx.size, 1).sum(-1)
        factor = 2 * ctx.alpha * ctx.beta / ctx.size
        of_input = scale.pow(-ctx.beta) * gradient - factor * input * sums
        return of_input, None, None, None, None
