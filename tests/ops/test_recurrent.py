"""Recurrent layers and cells: gradients of gradients, torch's functions, packed order, refusals."""

import pytest

import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck

MODES = {"rnn_tanh": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}
HIDDEN, FEATURES, BATCH, STEPS = 3, 2, 3, 4


def weights(mode, device, layers=1, directions=1, biases=True, proj=0):
    generator = torch.Generator().manual_seed(1)
    rows, out, shapes = MODES[mode] * HIDDEN, proj or HIDDEN, []
    for layer in range(layers):
        width = FEATURES if layer == 0 else out * directions
        each = [(rows, width), (rows, out)] + [(rows,)] * (2 * biases)
        shapes += (each + [(proj, HIDDEN)] * bool(proj)) * directions
    made = [torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes]
    return [(0.5 * w).to(device).requires_grad_() for w in made]


def states(mode, device, count=1, proj=0):
    generator = torch.Generator().manual_seed(2)
    sizes = [proj or HIDDEN] + [HIDDEN] * (mode == "lstm")
    made = [torch.randn(count, BATCH, s, generator=generator, dtype=torch.float64) for s in sizes]
    return [h.to(device).requires_grad_() for h in made]


def sequence(device, rows=(STEPS, BATCH)):
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(*rows, FEATURES, generator=generator, dtype=torch.float64)
    return x.to(device).requires_grad_()


def call(mode, input, sizes, hx, params, layers, bidirectional, biases=True):
    function, hx = getattr(torch, mode), tuple(hx) if mode == "lstm" else hx[0]
    options = (hx, tuple(params), biases, layers, 0.0, True, bidirectional)
    if sizes is None:
        return function(input, *options, False)
    return function(input, sizes, *options)


@pytest.mark.parametrize("proj", [0, 2])
@pytest.mark.parametrize("sizes", [None, [3, 2, 2, 1]])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_gradients(mode, bidirectional, sizes, proj, device):
    """First and second derivatives of all inputs, against finite differences."""
    if proj and mode != "lstm":
        return
    directions = 1 + bidirectional
    params = weights(mode, device, 1, directions, proj=proj)
    hx = states(mode, device, directions, proj)
    x = sequence(device, (STEPS, BATCH) if sizes is None else (sum(sizes),))
    batch_sizes = None if sizes is None else torch.tensor(sizes)

    def f(x, *rest):
        return call(mode, x, batch_sizes, rest[: len(hx)], rest[len(hx) :], 1, bidirectional)

    inputs = (x, *hx, *params)
    assert gradcheck(f, inputs)
    if not bidirectional:
        assert gradgradcheck(f, inputs, fast_mode=True)


@pytest.mark.parametrize("mode", MODES)
def test_cell_gradients(mode, device):
    params = weights(mode, device)
    hx = [h[0].detach().requires_grad_() for h in states(mode, device)]
    x = sequence(device, (BATCH,))
    cell = getattr(torch, mode + "_cell")

    def f(x, *rest):
        given = rest[: len(hx)]
        return cell(x, given if mode == "lstm" else given[0], *rest[len(hx) :])

    assert gradcheck(f, (x, *hx, *params))
    assert gradgradcheck(f, (x, *hx, *params))


@pytest.mark.parametrize("mode", MODES)
def test_a_step_is_a_cell(mode, device):
    params, hx, x = weights(mode, device), states(mode, device), sequence(device)
    _, *last = call(mode, x, None, hx, params, 1, False)
    now, cell = [h[0] for h in hx], getattr(torch, mode + "_cell")
    for row in x:
        now = cell(row, now if mode == "lstm" else now[0], *params)
        now = list(now) if mode == "lstm" else [now]
    for a, b in zip(last, now, strict=True):
        torch.testing.assert_close(a[0], b)


@pytest.mark.parametrize("mode", MODES)
def test_packed_rows_are_their_own_sequences(mode, device):
    """Each sequence alone gives what it gives in the packed batch, in both directions."""
    params, hx, sizes = weights(mode, device, 2, 2), states(mode, device, 4), [3, 2, 2, 1]
    data = sequence(device, (sum(sizes),)).detach()
    output, *last = call(mode, data, torch.tensor(sizes), hx, params, 2, True)
    starts = [0, 3, 5, 7]
    for i, length in enumerate([4, 3, 1]):
        rows = [starts[t] + i for t in range(length)]
        alone, *ends = call(
            mode, data[rows].unsqueeze(1), None, [h[:, i : i + 1] for h in hx], params, 2, True
        )
        torch.testing.assert_close(output[rows], alone[:, 0])
        for a, b in zip(last, ends, strict=True):
            torch.testing.assert_close(a[:, i], b[:, 0])


@pytest.mark.parametrize("batch", [1, 2, 5, 8, 15, 33])
@pytest.mark.parametrize("hidden", [1, 7, 16, 40])
def test_tiles(batch, hidden, device):
    """float32 goes through register tiles of every height and width; float64 does not."""
    torch.manual_seed(0)
    layer = torch.nn.LSTM(3, hidden).to(device)
    exact = torch.nn.LSTM(3, hidden, dtype=torch.float64).to(device)
    exact.load_state_dict(layer.state_dict())
    x = torch.randn(3, batch, 3)
    results = []
    for net, input in ((layer, x), (exact, x.double())):
        out, (h, c) = net(input.to(device))
        (out.square().sum() + c.sum()).backward()
        results.append([out, h, c, *(p.grad for p in net.parameters())])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b.float(), rtol=1e-4, atol=1e-4)


MANY = [
    "RNN(6, 40, nonlinearity='relu', bidirectional=True)",
    "RNN(6, 40, bias=False)",
    "GRU(6, 70, bidirectional=True)",
    "LSTM(6, 70, 2, bidirectional=True)",
    "LSTM(6, 70, proj_size=9)",
]


@pytest.mark.parametrize("text", MANY)
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_blocks_of_steps(text, ends, dtype, device):
    """Of many rows the input's part is computed a few steps ahead, and kept for backward only.
    Of bfloat16, states may be rounded to it where they are multiplied."""
    torch.manual_seed(0)
    layer = eval(f"torch.nn.{text}", {"torch": torch}).to(device, dtype)
    exact = eval(f"torch.nn.{text}", {"torch": torch}).to(device, torch.float64)
    exact.load_state_dict(layer.state_dict())
    x = torch.randn(2 * 37, 15, 6)[::2].transpose(0, 1).to(device, dtype)  # 15 steps of 37 rows
    lengths = [15 - i % 14 if ends else 15 for i in range(37)]

    def run(net, input):
        packed = torch.nn.utils.rnn.pack_padded_sequence(input, lengths, enforce_sorted=False)
        output, last = net(packed) if ends else net(input)
        return [output.data, *(last if isinstance(last, tuple) else [last])]

    results = []
    for net, input in ((layer, x), (exact, x.double())):
        input = input.detach().requires_grad_()
        found = run(net, input)
        sum(t.square().sum() for t in found).backward()
        results.append([*found, input.grad, *(p.grad for p in net.parameters())])
    for a, b in zip(*results, strict=True):
        far = 0.03 * b.abs().max().item() if dtype == torch.bfloat16 else 1e-3
        torch.testing.assert_close(a.float(), b.float(), rtol=1e-4, atol=far)
    with torch.no_grad():
        for a, b in zip(run(layer, x), results[0], strict=False):
            assert torch.equal(a, b)


def test_half_precision(device):
    """Computed in float32 and rounded once."""
    torch.manual_seed(0)
    layer = torch.nn.GRU(3, 4, 2).to(device)
    x = torch.randn(5, 2, 3).to(device)
    expected, _ = layer(x)
    for dtype in (torch.bfloat16, torch.float16):
        out, h = layer.to(dtype)(x.to(dtype))
        assert out.dtype == h.dtype == dtype
        torch.testing.assert_close(out.float(), expected, rtol=0.05, atol=0.05)
        out.sum().backward()
        assert layer.weight_hh_l0.grad.dtype == dtype
        layer.zero_grad()


def test_one_node_for_a_layer(device):
    layer = torch.nn.LSTM(2, 3).to(device)
    output, (h, c) = layer(torch.randn(50, 2, 2).to(device))
    names = {"cpu": "MkldnnRnnLayerBackward0"}
    assert output.grad_fn.name() == names.get(output.device.type, "CudnnRnnBackward0")
    assert h.grad_fn.name() == c.grad_fn.name() == "StackBackward0"
    assert h.grad_fn.next_functions[0][0] is output.grad_fn


def test_gradients_of_some_outputs_only(device):
    layer = torch.nn.LSTM(2, 3, dtype=torch.float64).to(device)
    x = sequence(device)
    for pick in (lambda o, h, c: o, lambda o, h, c: h, lambda o, h, c: c):
        assert gradcheck(lambda x, p=pick: p(layer(x)[0], *layer(x)[1]), (x,))


def test_an_output_may_be_written_to(device):
    """Backward keeps what it needs beside the output."""
    layer = torch.nn.GRU(2, 3).to(device)
    x = torch.randn(4, 2, 2).to(device)
    out, _ = layer(x)
    out.mul_(2).sum().backward()
    doubled = layer.weight_hh_l0.grad.clone()
    layer.zero_grad()
    layer(x)[0].sum().backward()
    torch.testing.assert_close(doubled, 2 * layer.weight_hh_l0.grad)


def test_a_weight_written_to_is_noticed(device):
    layer = torch.nn.RNN(2, 3).to(device)
    out, _ = layer(torch.randn(4, 2, 2).to(device))
    with torch.no_grad():
        layer.weight_hh_l0.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_empty_batch(device):
    for layer in (torch.nn.RNN(2, 3), torch.nn.LSTM(2, 3, proj_size=2), torch.nn.GRU(2, 3)):
        layer.to(device)
        out, _ = layer(torch.zeros(4, 0, 2, device=device))
        assert out.shape[:2] == (4, 0)
        out.sum().backward()
        assert not layer.weight_hh_l0.grad.any()


def good():
    one = torch.ones
    return {
        "input": one(4, 2, 3), "hx": one(1, 2, 5), "params": (one(15, 3), one(15, 5)),
        "has_biases": False, "num_layers": 1, "dropout": 0.0, "train": False,
        "bidirectional": False, "batch_first": False,
    }  # fmt: skip


REFUSED = [
    ({"input": torch.ones(4, 3)}, "input must have 3 dimensions"),
    ({"input": torch.ones(0, 2, 3)}, "Expected sequence length to be larger than 0 in RNN"),
    ({"input": torch.ones(4, 1, 3)}, "batch of the hidden state"),
    ({"input": torch.ones(4, 2, 4)}, "Expected w_ih of size"),
    ({"input": torch.ones(4, 2, 3, dtype=torch.int64)}, "floating point input"),
    ({"input": torch.ones(4, 2, 3, dtype=torch.float64)}, "not the same dtype"),
    ({"hx": torch.ones(2, 5)}, "hx of 3 dimensions"),
    ({"hx": torch.ones(2, 2, 5)}, "Expected more hidden states in stacked_rnn"),
    ({"hx": torch.ones(1, 2, 4)}, "Expected w_ih of size"),
    ({"params": (torch.ones(15, 3),)}, "incorrect number of RNN parameters"),
    ({"params": ()}, "incorrect number of RNN parameters"),
    ({"params": (torch.ones(15, 3), torch.ones(15, 4))}, "Expected w_hh of size"),
    ({"params": (torch.ones(15, 3), torch.ones(75))}, "Expected w_hh of size"),
    ({"num_layers": 0}, "Expected more hidden states"),
    ({"num_layers": -1}, "Expected more hidden states"),
    ({"num_layers": 2**62}, "Expected more hidden states"),
    ({"num_layers": 2**62, "bidirectional": True}, "overflow"),
    ({"has_biases": True}, "incorrect number of RNN parameters"),
    ({"bidirectional": True}, "Expected more hidden states"),
    ({"train": True, "dropout": 2.0, "num_layers": 2, "hx": torch.ones(2, 2, 5),
      "params": (torch.ones(15, 3), torch.ones(15, 5)) + (torch.ones(15, 5),) * 2}, "dropout"),
]  # fmt: skip


def on(device, arguments):
    moved = {k: v.to(device) if torch.is_tensor(v) else v for k, v in arguments.items()}
    if "params" in moved:
        moved["params"] = tuple(p.to(device) for p in moved["params"])
    return moved


@pytest.mark.parametrize(("change", "words"), REFUSED)
def test_refusals(change, words, device):
    torch.gru(**on(device, good()))
    with pytest.raises((RuntimeError, ValueError), match=words):
        torch.gru(**on(device, good() | change))


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([2, 2], "add up to 4"),
        ([2, 3, 3], "must not increase"),
        ([2, 2, -1, 5], "nor be negative"),
        ([1] * 8, "first of batch_sizes"),
        ([], "not empty"),
        ([[2, 2]], "one dimension"),
        ([2.0, 2.0, 2.0, 2.0], "expected scalar type Long but found Float"),
        ([2, 2**63 - 1], "must not increase"),
    ],
)
def test_batch_sizes_refused(sizes, words, device):
    arguments = on(device, good())
    del arguments["batch_first"]
    arguments["data"] = arguments.pop("input").reshape(8, 3)
    torch.gru(**arguments, batch_sizes=torch.tensor([2] * 4))
    with pytest.raises(RuntimeError, match=words):
        dtype = None if sizes else torch.int64
        torch.gru(**arguments, batch_sizes=torch.tensor(sizes, dtype=dtype))


def test_lstm_refuses_one_state(on_device):
    one = torch.ones
    with pytest.raises(RuntimeError, match="lstm expects two hidden states"):
        torch.lstm(
            one(4, 2, 3), (one(1, 2, 5),), (one(20, 3), one(20, 5)), False, 1, 0.0, False, False,
            False,
        )  # fmt: skip
    with pytest.raises(RuntimeError, match="lstm_cell expects two hidden states"):
        torch.lstm_cell(one(2, 3), (one(2, 5),), one(20, 3), one(20, 5))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"input": torch.ones(2, 4)}, "inconsistent input_size: got 4 expected 3"),
        ({"input": torch.ones(1, 3)}, "doesn't match hidden0 batch size 2"),
        ({"input": torch.ones(1, 1, 3)}, "1 or 2 dimensions"),
        ({"hx": torch.ones(2, 4)}, "hidden0 has inconsistent hidden_size: got 4, expected 5"),
        ({"hx": torch.ones(2, 1, 5)}, "doesn't match hidden0"),
        ({"w_ih": torch.ones(14, 3)}, "Expected w_ih of size"),
        ({"w_ih": torch.ones(3)}, "2 dimensions"),
        ({"w_hh": torch.ones(20, 5)}, "Expected w_hh of size"),
        ({"b_ih": torch.ones(5)}, "Expected b_ih of size"),
        ({"b_hh": torch.ones(15, 1)}, "Expected b_hh of size"),
        ({"b_hh": torch.ones(15, dtype=torch.float64)}, "not the same dtype"),
    ],
)
def test_cell_refusals(change, words, device):
    one = torch.ones
    arguments = {"input": one(2, 3), "hx": one(2, 5), "w_ih": one(15, 3), "w_hh": one(15, 5)}
    torch.gru_cell(**on(device, arguments))
    with pytest.raises(RuntimeError, match=words):
        torch.gru_cell(**on(device, arguments | change))
