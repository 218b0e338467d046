"""One step of a recurrent layer: attributes of rnn.py, as in torch.

The computation is torch.rnn_tanh_cell, rnn_relu_cell, lstm_cell and gru_cell, in C++.
"""

import math

from rushlight import _C
from rushlight.nn import init
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """What the cells share: weight_ih (num_chunks * hidden_size, input_size), weight_hh (num_chunks
    * hidden_size, hidden_size), bias_ih and bias_hh (num_chunks * hidden_size), drawn from U(-b,
    b), b = 1 / sqrt(hidden_size).

    Args:
        input_size, hidden_size: features of the input and of the hidden state.
        bias: whether there are bias_ih and bias_hh.
        num_chunks: number of gates.
        device, dtype: of the parameters.

    >>> torch.nn.RNNCellBase(10, 20, True, num_chunks=4).weight_ih.shape
    torch.Size([80, 10])
    """

    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: _C.Tensor
    weight_hh: _C.Tensor

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(_C.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(_C.empty((rows, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(_C.empty(rows, device=device, dtype=dtype))
            self.bias_hh = Parameter(_C.empty(rows, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws all parameters from U(-k, k), k = 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, cell, input, states):
        """One step with the names of the states, (name, state or None)."""
        own = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{own}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for name, state in states:
            if state is not None and state.dim() not in (1, 2):
                raise ValueError(
                    f"{own}: Expected {name} to be 1D or 2D, got {state.dim()}D instead"
                )
        batched = input.dim() == 2
        input = input if batched else input.unsqueeze(0)
        size = (input.size(0), self.hidden_size)
        full = []
        for _, state in states:
            if state is None:
                full.append(_C.zeros(size, dtype=input.dtype, device=input.device))
            else:
                full.append(state if batched else state.unsqueeze(0))
        hx = tuple(full) if len(full) > 1 else full[0]
        out = cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if batched:
            return out
        return tuple(s.squeeze(0) for s in out) if isinstance(out, tuple) else out.squeeze(0)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """One step of an RNN: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu instead of tanh.

    Args:
        input_size, hidden_size: features of the input and of the hidden state.
        bias: whether there are b_ih and b_hh.
        nonlinearity: "tanh" or "relu".
        device, dtype: of the parameters.

    Shape: input (n, input_size) or (input_size), hx (n, hidden_size) or (hidden_size), zeros by
        default; the result is shaped as hx.

    >>> torch.nn.RNNCell(10, 20)(torch.ones(3, 10)).shape
    torch.Size([3, 20])
    """

    nonlinearity: str

    def __init__(
        self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None
    ):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        cell = _C.rnn_tanh_cell if self.nonlinearity == "tanh" else _C.rnn_relu_cell
        return self._step(cell, input, [("hidden", hx)])


class LSTMCell(RNNCellBase):
    """One step of an LSTM, from an input and (h, c) to the next (h, c); see LSTM.

    Args: as of RNNCell.

    Shape: input (n, input_size) or (input_size), h and c (n, hidden_size) or (hidden_size), zeros
        by default.

    >>> h, c = torch.nn.LSTMCell(10, 20)(torch.ones(3, 10))
    >>> h.shape, c.shape
    (torch.Size([3, 20]), torch.Size([3, 20]))
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        h, c = (None, None) if hx is None else hx
        return self._step(_C.lstm_cell, input, [("hx[0]", h), ("hx[1]", c)])


class GRUCell(RNNCellBase):
    """One step of a GRU; see GRU.

    Args: as of RNNCell.

    Shape: input (n, input_size) or (input_size), hx (n, hidden_size) or (hidden_size), zeros by
        default.

    >>> torch.nn.GRUCell(10, 20)(torch.ones(3, 10)).shape
    torch.Size([3, 20])
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._step(_C.gru_cell, input, [("hidden", hx)])
