"""torch.autograd.grad under vmap().

Where outputs and inputs both have the batch, one backward pass gives the gradients of all elements,
as none depends on another's; where neither has it, one pass carries a row for each element. Else
there is one pass for each element.
"""

from rushlight import _C
from rushlight._func.dispatch import rule, stacked


def _list(given):
    return list(given) if isinstance(given, tuple | list) else [given]


@rule("grad")
def grad(level, func, outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,
         only_inputs=True, allow_unused=None, is_grads_batched=False,
         materialize_grads=False):  # fmt: skip
    """The gradients for each element."""
    outputs, inputs = _list(outputs), _list(inputs)
    weights = [None] * len(outputs) if grad_outputs is None else _list(grad_outputs)
    weights = [_like(level, w, o) for w, o in zip(weights, outputs, strict=True)]
    options = {
        "create_graph": create_graph, "allow_unused": True, "only_inputs": only_inputs,
        "is_grads_batched": is_grads_batched,
    }  # fmt: skip
    keep = create_graph if retain_graph is None else retain_graph
    values = [level.value(x) for x in outputs]
    parts = [level.value(x) for x in inputs]
    if all(level.holds(x) for x in outputs) and all(level.holds(x) for x in inputs):
        batch = [level.spread(w) for w in weights]
        if is_grads_batched:  # their rows come first
            batch = [w.transpose(0, 1) for w in batch]
        found = func(values, parts, batch, retain_graph=keep, **options)
        if is_grads_batched:
            found = [None if g is None else g.transpose(0, 1) for g in found]
        made = [None if g is None else level.batched(g) for g in found]
    elif not any(level.holds(x) for x in (*outputs, *inputs)):
        batch = [level.spread(w) for w in weights]
        rows = batch[0].shape[: 1 + is_grads_batched]
        batch = [w.flatten(0, len(rows) - 1) for w in batch]
        options["is_grads_batched"] = True
        found = func(values, parts, batch, retain_graph=keep, **options)
        made = [None if g is None else level.batched(g.unflatten(0, rows)) for g in found]
    else:
        rows = []
        for i in range(level.size):
            row = [_of_row(level, w, o, i, int(is_grads_batched))
                   for w, o in zip(weights, outputs, strict=True)]  # fmt: skip
            found = func(values, parts, row, retain_graph=keep or i + 1 < level.size, **options)
            rows.append([
                g.select(int(is_grads_batched), i) if g is not None and level.holds(x) else g
                for g, x in zip(found, inputs, strict=True)
            ])  # fmt: skip
        made = [None if g[0] is None else stacked(level, list(g), "grad")
                for g in zip(*rows, strict=True)]  # fmt: skip
    if not allow_unused and not materialize_grads and any(g is None for g in made):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior."
        )
    if materialize_grads:
        made = [level.wrap(_C.zeros_like(p)) if g is None else g
                for g, p in zip(made, parts, strict=True)]  # fmt: skip
    return tuple(made)


def _like(level, weight, output):
    if weight is not None:
        return weight
    if output.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    value = _C.ones_like(level.value(output))
    return level.batched(value) if level.holds(output) else value


def _of_row(level, weight, output, i, dim):
    # The weight of one element; in an output with a batch, its dimension `dim`, zero for others.
    chosen = weight._value.select(0, i) if level.holds(weight) else weight
    if not level.holds(output):
        return chosen
    value = _C.zeros_like(output._value)
    if dim:
        value = value.expand(chosen.shape[0], *value.shape)
    return value.select_scatter(chosen.to(value.dtype), dim, i)
