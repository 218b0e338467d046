"""Weights whose gradients are kept for each sample of a batch: what call_for_per_sample_grads puts
in the place of a module's parameters.

Note: the layer itself is computed as always. A node behind its results sees their gradient and
passes it on; from it and the layer's input it makes the gradient of each sample's own copy of the
weight, which becomes the parameter's attribute `grad_sample`.
"""

import inspect

import rushlight as torch
from rushlight import _C
from rushlight.autograd import Function, grad
from rushlight.nn import functional as F
from rushlight.nn import grad as convolutions

__all__ = ["ExpandedWeight"]


def _after_batch(tensor, dims):
    """The sum over all dimensions but the first and the last `dims`."""
    middle = tuple(range(1, tensor.dim() - dims))
    return tensor.sum(middle) if middle else tensor


def _refuse(call):
    """Raise for what has no gradient for each sample."""
    dims, shape = call["input"].dim(), call.get("normalized_shape")
    least = 2 if shape is None else len(shape) + 1
    if call.get("sparse") or call.get("scale_grad_by_freq"):
        raise RuntimeError("Expanded Weights: embedding() takes no sparse, no scale_grad_by_freq")
    if shape is not None and dims < least:
        raise RuntimeError(
            "Expanded Weights: Layer norm should not normalize over batch dimension for per sample "
            f"gradients\nthe input has {dims} dimensions, normalized_shape {len(shape)}"
        )
    if dims < least and "padding_idx" not in call:
        raise RuntimeError(
            "Input does not have a batch dimension. Expanded Weights expected input of at least "
            f"rank {least}, got of rank {dims}"
        )


def _linear(call, g):
    x = call["input"]
    rows = g.reshape(len(x), -1, g.shape[-1])
    weight = rows.mT @ x.reshape(len(x), -1, x.shape[-1])
    return {"weight": weight, "bias": _after_batch(g, 1)}


def _convolution(call, g):
    x, weight, padding = call["input"], call["weight"], call["padding"]
    places = weight.dim() - 2
    stride, dilation = (
        (call[name],) * places if isinstance(call[name], int) else call[name]
        for name in ("stride", "dilation")
    )
    if padding == "same":
        around = []
        for size, step in zip(weight.shape[:1:-1], dilation[::-1], strict=True):
            total = (size - 1) * step
            around += [total // 2, total - total // 2]
        x, padding = F.pad(x, around), 0
    elif padding == "valid":
        padding = 0
    of_weight = getattr(convolutions, f"conv{places}d_weight")
    n = len(x)
    # The samples as groups of one convolution, whose weights are the samples' own.
    made = of_weight(
        x.reshape(1, n * x.shape[1], *x.shape[2:]),
        (n * weight.shape[0], *weight.shape[1:]),
        g.reshape(1, n * g.shape[1], *g.shape[2:]),
        stride, padding, dilation, n * call["groups"],
    )  # fmt: skip
    return {"weight": made.reshape(n, *weight.shape), "bias": g.flatten(2).sum(2)}


def _embedding(call, g):
    x, weight, padding_idx = call["input"], call["weight"], call["padding_idx"]
    count, width = weight.shape
    first = torch.arange(len(x), device=x.device) * count
    rows = (x.reshape(len(x), -1) + first[:, None]).flatten()
    made = torch.zeros(len(x) * count, width, dtype=g.dtype, device=g.device)
    made = made.index_add_(0, rows, g.reshape(-1, width)).reshape(len(x), count, width)
    if padding_idx is not None:
        made[:, padding_idx] = 0
    return {"weight": made}


def _layer_norm(call, g):
    shape = call["normalized_shape"]
    plain = F.layer_norm(call["input"], shape, None, None, call["eps"])
    return {"weight": _after_batch(g * plain, len(shape)), "bias": _after_batch(g, len(shape))}


def _group_norm(call, g):
    plain = F.group_norm(call["input"], call["num_groups"], None, None, call["eps"])
    return {"weight": (g * plain).flatten(2).sum(2), "bias": g.flatten(2).sum(2)}


def _instance_norm(call, g):
    plain = F.instance_norm(
        call["input"], call["running_mean"], call["running_var"], None, None,
        call["use_input_stats"], 0.0, call["eps"],
    )  # fmt: skip
    return {"weight": (g * plain).flatten(2).sum(2), "bias": g.flatten(2).sum(2)}


_NAMES = {
    "linear": _linear,
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "embedding": _embedding,
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
}
_RULES = {getattr(F, name): rule for name, rule in _NAMES.items()}
_RULES.update((getattr(_C, n), _NAMES[n]) for n in _NAMES if n.startswith(("conv", "layer")))
_RECURRENT = (_C.lstm, _C.gru, _C.rnn_tanh, _C.rnn_relu)
# Methods that say what a weight is.
_SAY = {"size", "dim", "numel", "element_size", "is_floating_point", "is_complex", "data_ptr",
        "__len__", "__repr__", "__format__", "is_contiguous", "stride"}  # fmt: skip


class ExpandedWeight(_C.Tensor):
    """A parameter that keeps the gradient of each sample of a batch, as its `grad_sample`.

    Args:
        original: the parameter.
        batch_size: the number of samples.
        loss_reduction: "sum" or "mean", as the loss over the batch is made of its samples'.

    Raises:
        RuntimeError: a tensor without requires_grad, a batch_size that is no int of 1 or more,
            another loss_reduction.

    >>> from torch.nn.utils._expanded_weights import ExpandedWeight
    >>> ExpandedWeight(torch.nn.Parameter(torch.ones(2)), 3, "sum").shape
    torch.Size([2])
    """

    def __new__(cls, original, batch_size, loss_reduction):
        if not isinstance(original, _C.Tensor):
            kind = type(original).__name__
            raise RuntimeError(f"Can only make Expanded Weights of Tensors, got {kind}")
        if not original.requires_grad:
            raise RuntimeError(
                "Can only build ExpandedWeights objects of tensors that require_grad"
            )
        made = _C.Tensor._make_subclass(cls, original.detach(), True)
        made.orig_weight, made.batch_size = original, batch_size
        made.loss_reduction = loss_reduction
        return made

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _RECURRENT:
            return _recurrent(func, args)
        if func in _RULES:
            return _layer(func, args, kwargs)
        name = getattr(func, "__name__", str(func))
        if name not in _SAY and name != "__get__":
            raise RuntimeError(
                f"Expanded Weights encountered but cannot handle function {name}\n"
                "per-sample gradients are there for linear, convolution, embedding, layer_norm, "
                "group_norm, instance_norm and recurrent layers; torch.func.vmap(torch.func.grad("
                "...)) makes those of any function"
            )
        with _C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)


def _original(value):
    return value.orig_weight.detach() if isinstance(value, ExpandedWeight) else value


def _check_batch(size, weights):
    for weight in weights:
        if weight.batch_size != size:
            raise RuntimeError(
                "Expected ExpandedWeights to have batch size matching input but got input batch "
                f"size of {size} with ExpandedWeight of batch size {weight.batch_size}"
            )


def _keep(weight, gradient):
    """Add a gradient, a row for each sample, to the parameter's own."""
    if weight.loss_reduction == "mean":
        gradient = gradient * weight.batch_size
    original = weight.orig_weight
    before = getattr(original, "grad_sample", None)
    original.grad_sample = gradient if before is None else before + gradient


class _Seen(Function):
    """The results as they are; `backward` hands their gradients to a function, and passes on."""

    @staticmethod
    def forward(ctx, see, count, *tensors):
        ctx.see, ctx.others = see, len(tensors) - count
        ctx.set_materialize_grads(True)
        results = tuple(t.view_as(t) for t in tensors[:count])
        return results if count > 1 else results[0]

    @staticmethod
    def backward(ctx, *gradients):
        with torch.no_grad():
            ctx.see(gradients)
        return (None, None, *gradients, *(None,) * ctx.others)


def _seen(results, see, weights):
    """The results of a layer, behind which `see` is called with their gradients."""
    given = results if isinstance(results, tuple) else (results,)
    return _Seen.apply(see, len(given), *given, *(weight.orig_weight for weight in weights))


def _layer(func, args, kwargs):
    rule = _RULES[func]
    bound = inspect.signature(func).bind(*args, **kwargs)
    bound.apply_defaults()
    call = dict(bound.arguments)
    expanded = {n: call[n] for n in ("weight", "bias") if isinstance(call.get(n), ExpandedWeight)}
    plain = {name: _original(value) for name, value in call.items()}
    if any(isinstance(value, ExpandedWeight) for n, value in call.items() if n not in expanded):
        raise RuntimeError(
            f"Expanded Weights encountered but cannot handle function {func.__name__} of a "
            "parameter as anything but its weight and bias"
        )
    _refuse(plain)
    batch = plain["input"].shape[0] if plain["input"].dim() else 0
    _check_batch(batch, expanded.values())
    result = func(**plain)
    plain["input"] = plain["input"].detach()

    def see(gradients):
        made = rule(plain, gradients[0])
        for name, weight in expanded.items():
            _keep(weight, made[name])

    return _seen(result, see, expanded.values())


def _recurrent(func, args):
    """A recurrent layer: each sample's gradients come from the layer run with it alone."""
    packed = not isinstance(args[3], bool)
    data, sizes, hx, weights, biases, layers, dropout, train, both = (
        args[:9] if packed else (args[0], None, *args[1:8])
    )
    first = False if packed else args[8]
    if dropout and train:
        raise RuntimeError("Expanded Weights cannot handle the dropout of a recurrent layer")
    expanded = [w for w in weights if isinstance(w, ExpandedWeight)]
    plain = [_original(w) for w in weights]
    batch = int(sizes[0]) if packed else data.shape[0 if first else 1]
    _check_batch(batch, expanded)
    if packed:
        results = func(data, sizes, hx, plain, biases, layers, dropout, train, both)
    else:
        results = func(data, hx, plain, biases, layers, dropout, train, both, first)
    at = [i for i, w in enumerate(weights) if isinstance(w, ExpandedWeight)]
    starts = torch.cumsum(sizes, 0).tolist() if packed else []

    def of_sample(tensor, i):
        """A sample's part of the input or the output."""
        if not packed:
            return tensor.narrow(0 if first else 1, i, 1)
        steps = zip([0, *starts], sizes.tolist(), strict=False)
        rows = [start + i for start, size in steps if i < size]
        return tensor[torch.tensor(rows, device=tensor.device)].unsqueeze(1)

    def see(gradients):
        made = []
        for i in range(batch):
            own = [w.clone().requires_grad_(k in at) for k, w in enumerate(plain)]
            states = [
                h.detach()[:, i : i + 1] for h in (hx if isinstance(hx, tuple | list) else [hx])
            ]
            state = states if isinstance(hx, tuple | list) else states[0]
            x = of_sample(data.detach(), i)
            with torch.enable_grad():
                out = func(x, state, own, biases, layers, 0.0, train, both, first)
                g = [of_sample(gradients[0], i), *(h[:, i : i + 1] for h in gradients[1:])]
                made.append(grad(out, [own[k] for k in at], g))
        for weight, *parts in zip(expanded, *made, strict=True):
            _keep(weight, torch.stack(parts))

    return _seen(results, see, expanded)
