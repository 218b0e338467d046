"""Normalisation over the batch, the features, groups of channels, single instances."""

from __future__ import annotations

from rushlight import _C
from rushlight._casts import casts
from rushlight._modes import no_grad
from rushlight._results import check_tensors
from rushlight._table import op

__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm",
]  # fmt: skip


def _check_batch(size):
    """A statistic of one number says nothing."""
    count = size[0]
    for n in size[2:]:
        count *= n
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


def batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1,
    eps=1e-5,
):  # fmt: skip
    """(x - mean) / sqrt(var + eps) * weight + bias, over all dimensions but the second.

    Args:
        running_mean, running_var: used in evaluation; moved by `momentum` in training.

    >>> torch.nn.functional.batch_norm(torch.ones(2, 1), torch.zeros(1), torch.ones(1)).round()
    tensor([[1.],
            [1.]])
    """
    if training:
        _check_batch(input.size())
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    return _C.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, True
    )


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
    momentum=0.1, eps=1e-5,
):  # fmt: skip
    """batch_norm with statistics of each instance's channels.

    >>> torch.nn.functional.instance_norm(torch.ones(1, 1, 2))
    tensor([[[0., 0.]]])
    """
    parameters = {
        "weight": weight, "bias": bias, "running_mean": running_mean, "running_var": running_var
    }  # fmt: skip
    # In the order of torch's operation, whose positions errors name.
    check_tensors(
        "instance_norm", input=input,
        **{name: input if t is None else t for name, t in parameters.items()},
    )  # fmt: skip
    size = input.size()
    if use_input_stats:
        count = 1
        for n in size[2:]:
            count *= n
        if count == 1:
            raise ValueError(
                f"Expected more than 1 spatial element when training, got input size {size}"
            )
    n, c = size[0], size[1]
    if not use_input_stats:
        return _C.batch_norm(
            input, weight, bias, running_mean, running_var, False, momentum, eps, True
        )

    def tiled(t):
        return None if t is None else t.repeat(n)

    mean, var = tiled(running_mean), tiled(running_var)
    flat = input.contiguous().view(1, n * c, *size[2:])
    out = _C.batch_norm(flat, tiled(weight), tiled(bias), mean, var, True, momentum, eps, True)
    with no_grad():
        for running, all_of in ((running_mean, mean), (running_var, var)):
            if running is not None:
                running.copy_(all_of.view(n, c).mean(0))
    return out.view(size)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(var + eps) * weight + bias, over the last dimensions.

    >>> torch.nn.functional.layer_norm(torch.ones(1, 2), (2,))
    tensor([[0., 0.]])
    """
    return _C.layer_norm(input, normalized_shape, weight, bias, eps)


@casts(cuda="full")
@op("torch", "nn.functional")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """x / sqrt(mean(x^2) + eps) * weight, over the last dimensions.

    >>> torch.nn.functional.rms_norm(torch.tensor([[3.0, 3.0]]), (2,))
    tensor([[1., 1.]])
    """
    check_tensors("rms_norm", input=input, **({} if weight is None else {"weight": weight}))
    if isinstance(normalized_shape, int):
        normalized_shape = (normalized_shape,)
    count = len(normalized_shape)
    if not count or tuple(input.shape[-count:]) != tuple(normalized_shape):
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape "
            f"[*{''.join(f', {n}' for n in normalized_shape)}], but got input of size"
            f"{list(input.shape)}"
        )
    x = input.float() if input.dtype in (_C.float16, _C.bfloat16) else input
    if eps is None:
        eps = 2.220446049250313e-16 if x.dtype == _C.float64 else 1.1920928955078125e-07
    dims = tuple(range(-count, 0))
    out = x * (x.square().mean(dims, keepdim=True) + eps).rsqrt()
    out = out.to(input.dtype)
    return out if weight is None else (out * weight).to(input.dtype)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(var + eps) * weight + bias, over each group of channels.

    >>> torch.nn.functional.group_norm(torch.ones(1, 2, 2), 1)
    tensor([[[0., 0.],
             [0., 0.]]])
    """
    if input.dim() < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.dim()}"
        )
    size = input.size()
    if num_groups > 0 and size[1] % num_groups == 0:
        _check_batch([size[0] * size[1] // num_groups, num_groups, *size[2:]])
    return _C.group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta.

    >>> torch.nn.functional.local_response_norm(torch.zeros(1, 1, 2), 2)
    tensor([[[0., 0.]]])
    """
    if input.dim() < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input "
            f"(got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    square = input * input
    channels = input.size(1)

    def scaled(total):
        # The mean of integers is one too.
        mean = total / size if input.is_floating_point() else total // size
        return input / (mean * alpha + k) ** beta

    low = size // 2
    if low > channels:  # further neighbours are all zeros
        total = square.sum(1, keepdim=True)
        return scaled(total)
    padded = _C.zeros(
        (input.size(0), channels + size - 1, *input.shape[2:]),
        dtype=input.dtype, device=input.device,
    )  # fmt: skip
    parts = [padded[:, :low], square, padded[:, low + channels :]]
    padded = _C.cat(parts, 1)
    total = padded[:, :channels]
    for i in range(1, size):
        total = total + padded[:, i : i + channels]
    return scaled(total)
