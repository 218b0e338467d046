"""Recurrent layers over sequences: parameters, shapes, first states; cells are in rnn_cells.py.

The computation is torch.rnn_tanh, rnn_relu, lstm and gru, in C++.
"""

import math
import numbers
import warnings

from rushlight import _C
from rushlight.nn import init
from rushlight.nn.modules._class_path import settle
from rushlight.nn.modules.module import Module
from rushlight.nn.modules.rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from rushlight.nn.modules.utils import check_layer_count
from rushlight.nn.parameter import Parameter
from rushlight.nn.utils.rnn import PackedSequence

_OPS = {"RNN_TANH": _C.rnn_tanh, "RNN_RELU": _C.rnn_relu, "LSTM": _C.lstm, "GRU": _C.gru}
_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]


def _check_arguments(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size):
    is_number = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not is_number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an "
            f"element being zeroed, got {dropout!r}"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(value, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(value, int):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero, got {value}")
    if num_layers <= 0:
        raise ValueError(f"num_layers must be greater than zero, got {num_layers}")
    check_layer_count(num_layers)
    if proj_size < 0:
        raise ValueError(
            "proj_size should be a positive integer or zero to disable projections, "
            f"got {proj_size}"
        )
    if proj_size >= hidden_size:
        raise ValueError(
            f"proj_size has to be smaller than hidden_size, got {proj_size} and {hidden_size}"
        )


class RNNBase(Module):
    """What RNN, LSTM and GRU share: the parameters, the checks and the order of dimensions.

    Layer k has weight_ih_l{k} (gates * hidden, features), weight_hh_l{k} (gates * hidden, hidden),
    bias_ih_l{k} and bias_hh_l{k} (gates * hidden), the backward direction the same with `_reverse`;
    an LSTM with `proj_size` has weight_hr_l{k} (proj_size, hidden). All are drawn from U(-b, b), b
    = 1 / sqrt(hidden).

    Args:
        mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional: as of RNN.
        proj_size: as of LSTM.
        device, dtype: of the parameters.

    >>> torch.nn.RNNBase("GRU", 10, 20).weight_ih_l0.shape
    torch.Size([60, 10])
    """

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
        dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        _check_arguments(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._flat_weights_names = []
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                self._add_layer(layer, suffix, device, dtype)
        self.reset_parameters()

    @property
    def _directions(self):
        return 2 if self.bidirectional else 1

    def _add_layer(self, layer, suffix, device, dtype):
        gates = _GATES[self.mode] * self.hidden_size
        out = self.proj_size or self.hidden_size
        width = self.input_size if layer == 0 else out * self._directions
        shapes = {"weight_ih": (gates, width), "weight_hh": (gates, out)}
        if self.bias:
            shapes.update(bias_ih=(gates,), bias_hh=(gates,))
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = []
        for kind, shape in shapes.items():
            names.append(f"{kind}_l{layer}{suffix}")
            setattr(self, names[-1], Parameter(_C.empty(shape, device=device, dtype=dtype)))
        self._flat_weights_names += names
        self._all_weights.append(names)

    @property
    def _flat_weights(self):
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Does nothing, as the layers use the parameters where they are."""

    def reset_parameters(self):
        """Draws all parameters again."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input, batch_sizes):
        """Raises if `input`'s dtype or sizes do not fit; `batch_sizes` is given for a
        PackedSequence.
        """
        weight = getattr(self, self._flat_weights_names[0])
        if input.dtype != weight.dtype and not _C.is_autocast_enabled(input.device.type):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.size(-1)}"
            )

    def get_expected_hidden_size(self, input, batch_sizes):
        """The shape of h_0 for an `input`, packed where `batch_sizes` is given."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0 if self.batch_first else 1)
        return (self.num_layers * self._directions, batch, self.proj_size or self.hidden_size)

    def get_expected_cell_size(self, input, batch_sizes):
        """The shape of c_0 for an `input`, packed where `batch_sizes` is given."""
        return (*self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size)

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """Raises RuntimeError, with the text `msg`, if the shape of `hx` is not
        `expected_hidden_size`.
        """
        if tuple(hx.size()) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        """Raises if `input`, packed where `batch_sizes` is given, or the state `hidden` does not
        fit.
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """The states `hx` with the batch in the order of `permutation`."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _first_states(self, input, batch_sizes):
        sizes = [self.get_expected_hidden_size(input, batch_sizes)]
        if self.mode == "LSTM":
            sizes.append(self.get_expected_cell_size(input, batch_sizes))
        return tuple(_C.zeros(s, dtype=input.dtype, device=input.device) for s in sizes)

    def _run(self, input, hx, batch_sizes):
        """The output and the last states; `hx` is a tuple of stacked states, as those are."""
        hx = hx if self.mode == "LSTM" else hx[0]
        self.check_forward_args(input, hx, batch_sizes)
        options = (
            hx, self._flat_weights, self.bias, self.num_layers,
            self.dropout, self.training, self.bidirectional,
        )  # fmt: skip
        if batch_sizes is None:
            output, *last = _OPS[self.mode](input, *options, self.batch_first)
        else:
            output, *last = _OPS[self.mode](input, batch_sizes, *options)
        return output, tuple(last)

    def _check_unpacked(self, input, hx):
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead"
            )
        want = input.dim()
        kind = "unbatched 2-D" if want == 2 else "batched 3-D"
        for h in hx or ():
            if h.dim() != want:
                names = "hx" if len(hx) == 1 else "hx and cx"
                given = ", ".join(f"{h.dim()}-D" for h in hx)
                given = f"{given} tensor" if len(hx) == 1 else f"({given}) tensors"
                raise RuntimeError(
                    f"For {kind} input, {names} should also be {want}-D but got {given}"
                )

    def _forward(self, input, hx):
        """hx: None or a tuple of states, for an unpacked or a packed input."""
        if isinstance(input, PackedSequence):
            data, batch_sizes, sorted_indices, unsorted_indices = input
            if hx is None:
                hx = self._first_states(data, batch_sizes)
            else:
                hx = tuple(self.permute_hidden(h, sorted_indices) for h in hx)
            output, last = self._run(data, hx, batch_sizes)
            packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
            return packed, tuple(self.permute_hidden(h, unsorted_indices) for h in last)
        self._check_unpacked(input, hx)
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            hx = None if hx is None else tuple(h.unsqueeze(1) for h in hx)
        hx = self._first_states(input, None) if hx is None else hx
        output, last = self._run(input, hx, None)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            last = tuple(h.squeeze(1) for h in last)
        return output, last

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        shown = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0,
            "bidirectional": False,
        }  # fmt: skip
        for name, usual in shown.items():
            value = getattr(self, name)
            if value != usual:
                text += f", {name}={value}"
        return text

    def __getstate__(self):
        return {**super().__getstate__(), "_flat_weights": self._flat_weights}

    def __setstate__(self, state):
        state = dict(state)
        state.pop("_flat_weights", None)
        names = state.pop("all_weights", None) or state.get("_all_weights")
        super().__setstate__(state)
        self.__dict__.setdefault("proj_size", 0)
        self._all_weights = [list(layer) for layer in names]
        self._flat_weights_names = [name for layer in names for name in layer]


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh) at each step of a sequence (Elman, 1990).

    Args:
        input_size, hidden_size: features of the input and of the hidden state.
        num_layers: each layer reads the output of the one before it.
        nonlinearity: "tanh" or "relu".
        bias: whether there are b_ih and b_hh.
        batch_first: input and output are (n, t, features) instead of (t, n, features).
        dropout: probability that an element of the output of a layer but the last is zeroed, in
            training.
        bidirectional: a second direction reads the sequence from its end.
        device, dtype: of the parameters.

    Shape:
        input: (t, n, input_size), (t, input_size) or a PackedSequence.
        hx: (num_layers * directions, n, hidden_size), zeros by default.
        Returns output (t, n, directions * hidden_size) and the last states, shaped as hx.

    >>> output, h = torch.nn.RNN(10, 20, 2)(torch.ones(5, 3, 10))
    >>> output.shape, h.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]))
    """

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        mode = "RNN_" + nonlinearity.upper()
        super().__init__(mode, input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        output, last = self._forward(input, None if hx is None else (hx,))
        return output, last[0]


class LSTM(RNNBase):
    """Long short-term memory over a sequence (Hochreiter and Schmidhuber, 1997).

    c' = sigmoid(f) c + sigmoid(i) tanh(g) and h' = sigmoid(o) tanh(c'), where i, f, g and o are the
    four parts of W_ih x + b_ih + W_hh h + b_hh.

    Args: as of RNN.
        proj_size: if not 0, h is projected to that many features (Sak et al., 2014).

    Shape:
        input: see RNN.
        hx: (h, c); h (num_layers * directions, n, proj_size or hidden_size), c (num_layers *
            directions, n, hidden_size).
        Returns output (t, n, directions * (proj_size or hidden_size)) and the last (h, c).

    >>> output, (h, c) = torch.nn.LSTM(10, 20, 2)(torch.ones(5, 3, 10))
    >>> output.shape, h.shape, c.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]), torch.Size([2, 3, 20]))
    """

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        wanted = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], wanted, "Expected hidden[0] size {}, got {}")
        wanted = self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[1], wanted, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx, permutation):
        if isinstance(hx, tuple):
            return tuple(self.permute_hidden(h, permutation) for h in hx)
        return super().permute_hidden(hx, permutation)

    def forward(self, input, hx=None):
        return self._forward(input, None if hx is None else tuple(hx))


class GRU(RNNBase):
    """Gated recurrent units over a sequence (Cho et al., 2014).

    h' = (1 - z) n + z h, with r = sigmoid(x_r + h_r), z = sigmoid(x_z + h_z) and n = tanh(x_n + r
    h_n); x_r, x_z and x_n are the three parts of W_ih x + b_ih, and h_r, h_z, h_n of W_hh h + b_hh.

    Args: as of RNN.

    Shape: as of RNN.

    >>> output, h = torch.nn.GRU(10, 20, bidirectional=True)(torch.ones(5, 3, 10))
    >>> output.shape, h.shape
    (torch.Size([5, 3, 40]), torch.Size([2, 3, 20]))
    """

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input, hx=None):
        output, last = self._forward(input, None if hx is None else (hx,))
        return output, last[0]


settle(globals())
