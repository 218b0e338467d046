"""Recurrent networks: one step of each cell, and layers of steps over whole or packed sequences.

The input's part of all gates is one product for the whole sequence; a step adds the state's part.
A state is a tuple: (h,), or (h, c) for the LSTM.
"""

from rushlight import _C

__all__ = ["gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell", "run_layers"]


def _tanh_step(gates, state, w_hh, b_hh, w_hr):
    return (_C.tanh(gates + _C.linear(state[0], w_hh, b_hh)),)


def _relu_step(gates, state, w_hh, b_hh, w_hr):
    return (_C.relu(gates + _C.linear(state[0], w_hh, b_hh)),)


def _lstm_step(gates, state, w_hh, b_hh, w_hr):
    h, c = state
    i, f, g, o = _C.chunk(gates + _C.linear(h, w_hh, b_hh), 4, 1)
    c = _C.sigmoid(f) * c + _C.sigmoid(i) * _C.tanh(g)
    h = _C.sigmoid(o) * _C.tanh(c)
    return (h if w_hr is None else _C.linear(h, w_hr)), c


def _gru_step(gates, state, w_hh, b_hh, w_hr):
    h = state[0]
    xr, xz, xn = _C.chunk(gates, 3, 1)
    hr, hz, hn = _C.chunk(_C.linear(h, w_hh, b_hh), 3, 1)
    n = _C.tanh(xn + _C.sigmoid(xr + hr) * hn)
    return ((h - n) * _C.sigmoid(xz + hz) + n,)


STEPS = {"RNN_TANH": _tanh_step, "RNN_RELU": _relu_step, "LSTM": _lstm_step, "GRU": _gru_step}
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


def _over_steps(step, gates, state, weights, reverse):
    rows = gates.unbind(0)
    out = []
    for row in reversed(rows) if reverse else rows:
        state = step(row, state, *weights)
        out.append(state[0])
    if reverse:
        out.reverse()
    return _C.stack(out), state


def _over_packed(step, gates, state, weights, reverse, batch_sizes):
    """Sequences end, or in reverse begin, one after the other: the longest comes first."""
    parts = gates.split(batch_sizes)
    out, ended = [], []
    if reverse:
        start = state
        state = tuple(s[:0] for s in start)
        for part in reversed(parts):
            have, count = state[0].size(0), part.size(0)
            if count > have:
                state = tuple(_C.cat([s, t[have:count]]) for s, t in zip(state, start, strict=True))
            state = step(part, state, *weights)
            out.append(state[0])
        out.reverse()
        return _C.cat(out), state
    for part in parts:
        count = part.size(0)
        if count < state[0].size(0):
            ended.append(tuple(s[count:] for s in state))
            state = tuple(s[:count] for s in state)
        state = step(part, state, *weights)
        out.append(state[0])
    ended.append(state)
    return _C.cat(out), tuple(_C.cat(parts) for parts in zip(*reversed(ended), strict=True))


def run_layers(mode, input, states, weights, dropout, training, batch_sizes=None):
    """A stack of recurrent layers.

    Args:
        mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".
        states: for each layer a list with the state of each direction.
        weights: as states, each (w_ih, w_hh, b_ih, b_hh, w_hr), the last three may be None.
        dropout: between the layers, in training.
        batch_sizes: of a packed input, a list; None for an input (t, n, features).

    Returns: the last layer's output and, in the order of `states`, the last state of each.
    """
    step = STEPS[mode]
    last = []
    for i, (starts, matrices) in enumerate(zip(states, weights, strict=True)):
        outs = []
        for reverse, (state, w) in enumerate(zip(starts, matrices, strict=True)):
            gates = _C.linear(input, w[0], w[2])
            rest = (w[1], w[3], w[4])
            if batch_sizes is None:
                out, state = _over_steps(step, gates, state, rest, reverse)
            else:
                out, state = _over_packed(step, gates, state, rest, reverse, batch_sizes)
            outs.append(out)
            last.append(state)
        input = outs[0] if len(outs) == 1 else _C.cat(outs, -1)
        if dropout and training and i + 1 < len(states):
            input = _C.dropout(input, dropout, True)
    return input, last


def _check_cell(input, states, w_ih, w_hh):
    if input.size(1) != w_ih.size(1):
        raise RuntimeError(
            f"input has inconsistent input_size: got {input.size(1)} expected {w_ih.size(1)}"
        )
    for i, h in enumerate(states):
        if h.dim() != 2 or h.size(0) != input.size(0):
            raise RuntimeError(
                f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {h.size(0)}"
            )
        if h.size(1) != w_hh.size(1):
            raise RuntimeError(
                f"hidden{i} has inconsistent hidden_size: got {h.size(1)}, expected {w_hh.size(1)}"
            )


def _cell(mode, input, state, w_ih, w_hh, b_ih, b_hh):
    _check_cell(input, state, w_ih, w_hh)
    return STEPS[mode](_C.linear(input, w_ih, b_ih), state, w_hh, b_hh, None)


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """tanh(W_ih x + b_ih + W_hh h + b_hh).

    >>> one = torch.ones(1, 1)
    >>> torch.rnn_tanh_cell(one, 0 * one, one, one)
    tensor([[0.7616]])
    """
    return _cell("RNN_TANH", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """max(0, W_ih x + b_ih + W_hh h + b_hh).

    >>> one = torch.ones(1, 1)
    >>> torch.rnn_relu_cell(one, 2 * one, one, one)
    tensor([[3.]])
    """
    return _cell("RNN_RELU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of an LSTM: (h, c) from an input and (h, c); the gates are i, f, g, o.

    >>> one = torch.ones(1, 1)
    >>> torch.lstm_cell(one, (one, one), one.new_zeros(4, 1), one.new_zeros(4, 1))
    (tensor([[0.2311]]), tensor([[0.5000]]))
    """
    return _cell("LSTM", input, tuple(hx), w_ih, w_hh, b_ih, b_hh)


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of a GRU: the gates are r, z, n.

    >>> one = torch.ones(1, 1)
    >>> torch.gru_cell(one, one, one.new_zeros(3, 1), one.new_zeros(3, 1))
    tensor([[0.5000]])
    """
    return _cell("GRU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]
