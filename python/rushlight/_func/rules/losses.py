"""Losses under vmap(): computed for each entry, then reduced over the entries of each element."""

from rushlight import _C
from rushlight._func.dispatch import rule
from rushlight._func.rules.elements import aligned


def _reduced(level, value, reduction):
    if reduction == "none" or value.dim() == 1:
        return level.batched(value)
    flat = value.flatten(1)
    return level.batched(flat.mean(1) if reduction == "mean" else flat.sum(1))


def _reduction(reduction, size_average, reduce):
    if size_average is None and reduce is None:
        return reduction
    average = size_average is None or size_average
    return "none" if reduce is False else "mean" if average else "sum"


@rule("F.mse_loss F.l1_loss F.smooth_l1_loss F.binary_cross_entropy "
      "F.binary_cross_entropy_with_logits")  # fmt: skip
def pairwise(level, func, input, target, *args, reduction="mean", size_average=None, reduce=None,
             **options):  # fmt: skip
    """Losses of pairs of scalars."""
    if args:  # in older order: weight before size_average
        return NotImplemented
    reduction = _reduction(reduction, size_average, reduce)
    given = [input, target, *options.values()]
    if input.shape != target.shape or any(hasattr(x, "dim") for x in options.values()):
        return NotImplemented
    values = aligned(level, given)
    a, b = _C.broadcast_tensors(*values[:2])
    found = func(a, b, reduction="none", **dict(zip(options, values[2:], strict=True)))
    return _reduced(level, found, reduction)


@rule("F.huber_loss")
def huber_loss(level, func, input, target, reduction="mean", delta=1.0, weight=None):
    """The Huber loss."""
    if weight is not None or input.shape != target.shape:
        return NotImplemented
    a, b = _C.broadcast_tensors(*aligned(level, [input, target]))
    return _reduced(level, func(a, b, reduction="none", delta=delta), reduction)


@rule("F.cross_entropy F.nll_loss")
def cross_entropy(level, func, input, target, weight=None, size_average=None, ignore_index=-100,
                  reduce=None, reduction="mean", **options):  # fmt: skip
    """Losses of classes: the batch goes into dimension 0."""
    reduction = _reduction(reduction, size_average, reduce)
    if level.holds(weight) or not input.dim() >= 1:
        return NotImplemented
    value, labels = level.spread(input), level.spread(target)
    probabilities = target.is_floating_point()
    if target.dim() != input.dim() - (0 if probabilities else 1):
        return NotImplemented  # for the error that names the shapes
    many = input.dim() > 1
    if many:
        images = value.shape[:2]
        value, labels = value.flatten(0, 1), labels.flatten(0, 1)
    found = func(value, labels, weight, None, ignore_index, None, "none", **options)
    if many:
        found = found.unflatten(0, images)
    if reduction != "mean":
        return _reduced(level, found, reduction)
    if probabilities:
        total = found.flatten(1).sum(1) if many else found
        return level.batched(total / (total.new_tensor(found[0].numel()) if many else 1))
    used = labels != ignore_index
    if weight is None:
        used = used.to(found.dtype)
    else:
        used = weight[labels.where(used, 0)] * used
    used = used.reshape(level.size, -1)
    return level.batched(found.reshape(level.size, -1).sum(1) / used.sum(1))
