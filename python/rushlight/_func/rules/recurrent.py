"""Recurrent layers and cells under vmap(): the batch joins that of the sequences, where all
elements share the weights.
"""

from rushlight import Tensor
from rushlight._func.dispatch import rule
from rushlight._func.rules.factories import check_draws


def _joined(level, x, dim):
    # The batch within dimension `dim` of an element.
    return level.spread(x).movedim(0, dim).flatten(dim, dim + 1)


def _parted(level, x, dim):
    return x.unflatten(dim, (level.size, -1)).movedim(dim, 0)


@rule("rnn_tanh rnn_relu gru lstm")
def layers(level, func, input, hx, params, has_biases=True, num_layers=1, dropout=0.0, train=False,
           bidirectional=False, batch_first=False):  # fmt: skip
    """Stacks of layers; of packed sequences one element after another."""
    if isinstance(params, Tensor) or level.found(params) or input.dim() != 3 or not level.size:
        return NotImplemented
    if dropout and train:
        check_draws(level)
        return NotImplemented
    states = [hx] if isinstance(hx, Tensor) else hx
    if any(h.dim() != 3 for h in states):
        return NotImplemented
    states = [_joined(level, h, 1) for h in states]
    where = 0 if batch_first else 1
    output, *last = func(
        _joined(level, input, where), states[0] if isinstance(hx, Tensor) else tuple(states),
        params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
    )  # fmt: skip
    made = [_parted(level, output, where), *(_parted(level, h, 1) for h in last)]
    return tuple(level.batched(x) for x in made)


@rule("rnn_tanh_cell rnn_relu_cell gru_cell lstm_cell")
def cell(level, func, input, hx, *weights, **more):
    """One step."""
    states = [hx] if isinstance(hx, Tensor) else list(hx)
    ranks = {x.dim() for x in (input, *states)}
    if level.found((*weights, *more.values())) or len(ranks) > 1 or not level.size:
        return NotImplemented
    rank = ranks.pop()
    if rank not in (1, 2):
        return NotImplemented
    flat = [level.spread(x) if rank == 1 else _joined(level, x, 0) for x in (input, *states)]
    found = func(flat[0], flat[1] if isinstance(hx, Tensor) else tuple(flat[1:]), *weights, **more)
    parts = [found] if isinstance(found, Tensor) else found
    made = [level.batched(x if rank == 1 else _parted(level, x, 0)) for x in parts]
    return made[0] if isinstance(found, Tensor) else tuple(made)
