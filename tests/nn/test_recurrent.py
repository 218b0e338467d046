"""Recurrent layers, packed sequences and attention against torch where module_db has no sample."""

import copy
import io

import pytest

import rushlight
from tests.conftest import ask

from .compare import assert_same, both, message, random

LENGTHS = [[4, 3, 3, 1], [2, 4, 1, 4], [5], [1, 1]]


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("batch_first", [False, True])
def test_packing(reference, device, lengths, batch_first):
    n, longest = len(lengths), max(lengths)
    shape = (n, longest + 1, 3) if batch_first else (longest + 1, n, 3)
    values = both(rushlight, reference, random(*shape), device=device)
    pairs = zip((rushlight, reference), values, strict=True)
    ours, theirs = (
        [*packed, *library.nn.utils.rnn.pad_packed_sequence(packed, batch_first, -1.0, longest + 2)]
        for library, x in pairs
        for packed in [
            library.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first, enforce_sorted=False)
        ]
    )
    assert_same(ours, theirs)


def test_unpacking(on_device):
    rnn = rushlight.nn.utils.rnn
    parts = [rushlight.arange(n) for n in (3, 1, 2)]
    packed = rnn.pack_sequence(parts, enforce_sorted=False)
    assert [p.tolist() for p in rnn.unpack_sequence(packed)] == [p.tolist() for p in parts]
    assert packed.double().data.dtype == rushlight.float64
    assert packed.to(rushlight.int64) is packed


BAD_LENGTHS = [[1, 2], [2, 0], [2], [[2, 2]]]


@pytest.mark.parametrize("lengths", BAD_LENGTHS)
def test_packing_refuses(reference, lengths):
    def kind(library):
        pack = library.nn.utils.rnn.pack_padded_sequence
        return message(lambda: pack(library.ones(3, 2), library.tensor(lengths)))[0]

    assert kind(rushlight) == kind(reference)


LAYERS = [
    "RNN(3, 4, 2, 'relu', bidirectional=True)",
    "LSTM(3, 4, 2, bidirectional=True)",
    "LSTM(3, 5, 2, proj_size=2, bias=False)",
    "GRU(3, 4, 2, bidirectional=True, dropout=0.4)",
]


def build(library, text):
    library.manual_seed(3)
    return eval(f"nn.{text}", {"nn": library.nn})


@pytest.mark.parametrize("text", LAYERS)
def test_packed_input(reference, device, text):
    """Outputs, last states and gradients; sequences end at different steps."""
    if "dropout" in text:
        device = "cpu"  # a GPU has a stream of its own
    results = []
    inputs = both(rushlight, reference, random(5, 3, 3), requires_grad=True, device=device)
    for library, x in zip((rushlight, reference), inputs, strict=True):
        layer = build(library, text).to(device if library is rushlight else "cpu")
        packed = library.nn.utils.rnn.pack_padded_sequence(x, [2, 5, 3], enforce_sorted=False)
        library.manual_seed(5)
        output, last = layer(packed)
        last = last if isinstance(last, tuple) else (last,)
        loss = (output.data**2).sum() + sum((h**3).sum() for h in last)
        loss.backward()
        grads = [p.grad for p in layer.parameters()]
        results.append([output.data, output.batch_sizes, *last, x.grad, *grads])
    assert_same(*results, rtol=2e-5)


@pytest.mark.parametrize("text", LAYERS)
def test_copies_and_files(device, text):
    layer = build(rushlight, text).to(device).eval()
    x = rushlight.tensor(random(5, 3, 3).tolist(), device=device)
    file = io.BytesIO()
    rushlight.save(layer, file)
    file.seek(0)
    again = rushlight.load(file, weights_only=False)
    for other in (copy.deepcopy(layer), again):
        assert rushlight.equal(layer(x)[0], other(x)[0])
        other.weight_hh_l0.data.zero_()
        assert not rushlight.equal(layer(x)[0], other(x)[0])


def test_files_of_torch(device):
    values = random(5, 3, 3).tolist()

    def saved(library):
        layer, file = build(library, LAYERS[1]), io.BytesIO()
        library.save(layer, file)
        return file.getvalue(), layer(library.tensor(values))[0]

    file, theirs = ask(saved)
    ours = rushlight.load(io.BytesIO(file), device, weights_only=False)
    assert_same(ours(rushlight.tensor(values, device=device))[0], theirs)


def test_longer_than_memory_of_calls(on_device):
    """A thousand steps: the graph is walked without recursion."""
    layer = rushlight.nn.RNN(1, 1)
    out, _ = layer(rushlight.zeros(1000, 1, 1))
    out.sum().backward()
    assert layer.weight_hh_l0.grad.isfinite().all()


def test_packing_refuses_steps_that_are_not_there(on_device):
    """torch makes a sequence there whose sizes do not add up."""
    pack = rushlight.nn.utils.rnn.pack_padded_sequence
    with pytest.raises(RuntimeError, match="exceeds dimension size"):
        pack(rushlight.ones(3, 2), [9, 2])


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("shapes", [((3, 0, 4), (2, 0, 4)), ((0, 2, 4), (3, 2, 4))])
def test_attention_of_no_sequences(reference, device, need_weights, shapes):
    query, key = shapes
    results = []
    for library in (rushlight, reference):
        where = device if library is rushlight else "cpu"
        layer = library.nn.MultiheadAttention(4, 2).to(where)
        x, y = library.ones(query, device=where), library.ones(key, device=where)
        out, weights = layer(x, y, y, need_weights=need_weights)
        results.append([list(out.shape), list(weights.shape) if need_weights else None])
    assert results[0] == results[1]


MASKS = ["none", "bool", "float", "heads", "causal"]


@pytest.mark.filterwarnings("ignore:Support for mismatched")
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_attention_masks(reference, device, mask, need_weights, padded):
    results = []
    inputs = both(rushlight, reference, random(2, 3, 8), requires_grad=True, device=device)
    for library, x in zip((rushlight, reference), inputs, strict=True):
        library.manual_seed(3)
        where = device if library is rushlight else "cpu"
        layer = library.nn.MultiheadAttention(8, 2, batch_first=True).to(where)
        options = {}
        if mask == "bool":
            options["attn_mask"] = library.ones(3, 3, device=where).tril() == 0
        elif mask == "float":
            options["attn_mask"] = library.arange(9.0, device=where).reshape(3, 3)
        elif mask == "heads":
            options["attn_mask"] = library.arange(36.0, device=where).reshape(4, 3, 3)
        elif mask == "causal":
            make = library.nn.Transformer.generate_square_subsequent_mask
            options.update(attn_mask=make(3).to(where), is_causal=True)
        if padded:
            options["key_padding_mask"] = library.tensor(
                [[False, False, True], [False] * 3], device=where
            )
        out, weights = layer(x, x, x, need_weights=need_weights, **options)
        out.square().sum().backward()
        results.append([out, x.grad, layer.in_proj_weight.grad])
        results[-1] += [weights] if need_weights else []
    assert_same(*results, rtol=2e-5)


def test_padding_is_on_one_of_two_sides(on_device):
    words = "Expected padding_side to be one of left or right, but got x"
    with pytest.raises(RuntimeError, match=words):
        rushlight.nn.utils.rnn.pad_sequence([rushlight.ones(2)], padding_side="x")
