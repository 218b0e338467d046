"""Every layer against torch: repr, state, seeded values, outputs and gradients."""

import warnings

import numpy as np
import pytest

import rushlight
from tests.conftest import ask

from .compare import assert_same, both, message, random

IMAGE, SIGNAL, ROWS = (2, 4, 6, 6), (2, 4, 8), (5, 6)

# (constructor, shapes of the inputs), the constructor as text so that it names the test.
LAYERS = [
    ("Identity(3)", [ROWS]),
    ("Linear(6, 3)", [ROWS]),
    ("Linear(6, 3, bias=False)", [(2, 5, 6)]),
    ("Linear(6, 3)", [(6,)]),
    ("Bilinear(6, 4, 3)", [(5, 6), (5, 4)]),
    ("Conv1d(4, 6, 3, stride=2, padding=1)", [SIGNAL]),
    ("Conv2d(4, 6, 3)", [IMAGE]),
    ("Conv2d(4, 6, (3, 1), stride=2, padding=(1, 0), dilation=(2, 1), bias=False)", [IMAGE]),
    ("Conv2d(4, 6, 3, padding='same', groups=2)", [IMAGE]),
    ("Conv2d(4, 6, 3, padding='valid')", [(4, 6, 6)]),
    ("Conv2d(4, 6, 3, padding=1, padding_mode='reflect')", [IMAGE]),
    ("Conv2d(4, 6, 3, padding=2, padding_mode='circular')", [IMAGE]),
    ("Conv2d(4, 6, 3, padding=1, padding_mode='replicate')", [IMAGE]),
    ("Conv3d(2, 3, 2)", [(2, 2, 4, 4, 4)]),
    ("ConvTranspose1d(4, 3, 3, stride=2)", [SIGNAL]),
    ("ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1)", [IMAGE]),
    ("ConvTranspose2d(4, 6, 2, groups=2, bias=False)", [IMAGE]),
    ("MaxPool1d(2)", [SIGNAL]),
    ("MaxPool2d(2)", [IMAGE]),
    ("MaxPool2d(3, stride=2, padding=1, ceil_mode=True)", [IMAGE]),
    ("MaxPool2d(2, return_indices=True)", [IMAGE]),
    ("AvgPool1d(2)", [SIGNAL]),
    ("AvgPool2d(2)", [IMAGE]),
    ("AvgPool2d(3, stride=2, padding=1, count_include_pad=False)", [IMAGE]),
    ("AdaptiveAvgPool1d(3)", [SIGNAL]),
    ("AdaptiveAvgPool2d((1, None))", [IMAGE]),
    ("AdaptiveAvgPool2d(4)", [IMAGE]),
    ("AdaptiveMaxPool1d(3)", [SIGNAL]),
    ("AdaptiveMaxPool2d((2, 3))", [IMAGE]),
    ("LPPool1d(2, 2)", [SIGNAL]),
    ("LPPool2d(2, 2)", [IMAGE]),
    ("BatchNorm1d(6)", [ROWS]),
    ("BatchNorm1d(4, momentum=None)", [SIGNAL]),
    ("BatchNorm2d(4)", [IMAGE]),
    ("BatchNorm2d(4, affine=False, track_running_stats=False)", [IMAGE]),
    ("BatchNorm2d(4, bias=False)", [IMAGE]),
    ("BatchNorm3d(2)", [(2, 2, 3, 3, 3)]),
    ("InstanceNorm1d(4)", [SIGNAL]),
    ("InstanceNorm2d(4, affine=True, track_running_stats=True)", [IMAGE]),
    ("InstanceNorm2d(4)", [(4, 6, 6)]),
    ("LayerNorm(6)", [ROWS]),
    ("LayerNorm((6, 6), elementwise_affine=False)", [IMAGE]),
    ("LayerNorm(6, bias=False)", [ROWS]),
    ("GroupNorm(2, 4)", [IMAGE]),
    ("GroupNorm(4, 4, affine=False)", [SIGNAL]),
    ("RMSNorm(6)", [ROWS]),
    ("RMSNorm((6, 6), eps=1e-3)", [IMAGE]),
    ("LocalResponseNorm(3)", [IMAGE]),
    ("CrossMapLRN2d(3, 0.5)", [(2, 7, 3, 2)]),
    ("CrossMapLRN2d(4, 0.5, 0.5, 2)", [(2, 6, 3, 2)]),
    ("CrossMapLRN2d(7, 0.5)", [IMAGE]),
    ("Dropout(0.5).eval()", [ROWS]),
    ("Dropout(0.5)", [ROWS]),
    ("Dropout1d(0.5)", [SIGNAL]),
    ("Dropout2d(0.5)", [IMAGE]),
    ("Dropout3d(0.5)", [(2, 4, 2, 2, 2)]),
    ("AlphaDropout(0.3)", [ROWS]),
    ("FeatureAlphaDropout(0.3)", [IMAGE]),
    ("Flatten()", [IMAGE]),
    ("Flatten(0, 1)", [IMAGE]),
    ("Unflatten(1, (2, 3))", [ROWS]),
    ("ReLU()", [ROWS]),
    ("ReLU6()", [ROWS]),
    ("ELU(0.5)", [ROWS]),
    ("CELU(0.5)", [ROWS]),
    ("SELU()", [ROWS]),
    ("GELU()", [ROWS]),
    ("GELU('tanh')", [ROWS]),
    ("LeakyReLU(0.2)", [ROWS]),
    ("PReLU()", [ROWS]),
    ("PReLU(4)", [IMAGE]),
    ("RReLU().eval()", [ROWS]),
    ("Sigmoid()", [ROWS]),
    ("Tanh()", [ROWS]),
    ("SiLU()", [ROWS]),
    ("Mish()", [ROWS]),
    ("Hardtanh(-0.5, 0.5)", [ROWS]),
    ("Hardswish()", [ROWS]),
    ("Hardsigmoid()", [ROWS]),
    ("Hardshrink(0.3)", [ROWS]),
    ("Softshrink(0.3)", [ROWS]),
    ("Tanhshrink()", [ROWS]),
    ("Softsign()", [ROWS]),
    ("Softplus(2.0, 1.0)", [ROWS]),
    ("LogSigmoid()", [ROWS]),
    ("Threshold(0.1, 0.2)", [ROWS]),
    ("GLU()", [ROWS]),
    ("Softmax(1)", [ROWS]),
    ("Softmax2d()", [IMAGE]),
    ("Softmin(1)", [ROWS]),
    ("LogSoftmax(-1)", [ROWS]),
    ("ZeroPad2d((1, 0, 2, -1))", [IMAGE]),
    ("ConstantPad1d(1, 3.5)", [SIGNAL]),
    ("ConstantPad3d(1, 0.5)", [(1, 2, 2, 2, 2)]),
    ("ReflectionPad1d((1, 2))", [SIGNAL]),
    ("ReflectionPad2d(2)", [IMAGE]),
    ("ReplicationPad2d((1, 2, 3, 0))", [IMAGE]),
    ("ReplicationPad3d(1)", [(1, 2, 2, 2, 2)]),
    ("CircularPad2d(2)", [IMAGE]),
    ("PixelShuffle(2)", [IMAGE]),
    ("PixelUnshuffle(2)", [IMAGE]),
    ("ChannelShuffle(2)", [IMAGE]),
    ("Upsample(scale_factor=2)", [IMAGE]),
    ("Upsample(size=(4, 9))", [IMAGE]),
    ("Upsample(scale_factor=2, mode='bilinear')", [IMAGE]),
    ("Upsample(size=(9, 4), mode='bilinear', align_corners=True)", [IMAGE]),
    ("Upsample(scale_factor=1.7, mode='linear')", [SIGNAL]),
    ("UpsamplingBilinear2d(scale_factor=2)", [IMAGE]),
    ("UpsamplingNearest2d(5)", [IMAGE]),
    ("Unfold(3, padding=1, stride=2)", [IMAGE]),
    ("Fold((4, 4), 2)", [(2, 8, 9)]),
    ("CosineSimilarity()", [ROWS, ROWS]),
    ("PairwiseDistance(keepdim=True)", [ROWS, ROWS]),
    ("Sequential(torch.nn.Linear(6, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))", [ROWS]),
]


def build(library, text):
    return eval("torch.nn." + text, {"torch": library})


@pytest.mark.parametrize("text, shapes", LAYERS, ids=[text for text, _ in LAYERS])
def test_layer(pair, reference, device, text, shapes):
    if "Dropout" in text:
        device = "cpu"  # a GPU has a stream of its own
    ours, theirs = pair(lambda library: build(library, text))
    ours.to(device)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, value in theirs.state_dict().items():
        assert_same(ours.state_dict()[name], value, 1e-6)
    inputs = [
        both(rushlight, reference, random(*shape, seed=i), requires_grad=True, device=device)
        for i, shape in enumerate(shapes)
    ]
    rushlight.manual_seed(1)
    out = ours(*(a for a, _ in inputs))
    reference.manual_seed(1)
    expected = theirs(*(b for _, b in inputs))
    assert_same(out, expected)
    if isinstance(out, tuple):
        out, expected = out[0], expected[0]
    weight = both(rushlight, reference, random(*out.shape, seed=9), device=device)
    (out * weight[0]).sum().backward()
    (expected * weight[1]).sum().backward()
    for a, b in inputs:
        assert_same(a.grad, b.grad)
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert_same(p.grad, q.grad, 1e-4)
    for name, value in theirs.state_dict().items():
        assert_same(ours.state_dict()[name], value)
    their_class = str(getattr(reference.nn, type(ours).__name__))
    assert type(ours).__module__.replace("rushlight", "torch") + "." in their_class


REPR_ONLY = [
    "Embedding(4, 3, padding_idx=1, max_norm=2.0)",
    "EmbeddingBag(4, 3, mode='sum', padding_idx=1)",
    "ReLU(inplace=True)",
    "LeakyReLU(inplace=True)",
    "RReLU(inplace=True)",
    "ELU(inplace=True)",
    "Threshold(1, 2, True)",
    "Hardtanh(inplace=True)",
    "Softmax()",
    "MaxPool3d(2)",
    "AvgPool3d((1, 2, 2))",
    "AdaptiveMaxPool3d((1, None, 2))",
    "LazyLinear(3)",
    "LazyConv2d(3, 2)",
    "LazyBatchNorm1d()",
    "ModuleDict({'a': torch.nn.ReLU(), 'b': torch.nn.Linear(1, 2)})",
    "ModuleList([torch.nn.Linear(1, 2), torch.nn.Linear(1, 2), torch.nn.ReLU()])",
    "ModuleList([torch.nn.Sequential(torch.nn.ReLU()), torch.nn.Sequential(torch.nn.ReLU())])",
    "ModuleList()",
    "Sequential()",
    "ParameterList([torch.ones(2), 3])",
    "ParameterList()",
    "ParameterDict({'a': torch.ones(2), 'b': torch.nn.Parameter(torch.ones(()))})",
    "CrossEntropyLoss(torch.ones(2))",
    "BCEWithLogitsLoss(pos_weight=torch.ones(1))",
    "TripletMarginLoss()",
    "ConvTranspose3d(1, 2, 3)",
    "CircularPad1d(1)",
    "ReflectionPad3d(1)",
]


@pytest.mark.parametrize("text", REPR_ONLY)
def test_repr(pair, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lazy modules are announced as new in both libraries
        ours, theirs = pair(lambda library: build(library, text))
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())


WRONG = [
    "Conv2d(3, 4, 3, groups=2)",
    "Conv2d(4, 3, 3, groups=2)",
    "Conv2d(4, 4, 3, groups=0)",
    "Conv2d(3, 4, 3, padding='half')",
    "Conv2d(3, 4, 3, stride=2, padding='same')",
    "ConvTranspose2d(3, 4, 3, padding_mode='reflect')",
    "Dropout(1.5)",
    "GroupNorm(3, 4)",
    "Bilinear(0, 1, 1)",
    "Unflatten(1, 3)",
    "Unflatten(1, (2, 'a'))",
    "TripletMarginLoss(margin=-1.0)",
    "MultiMarginLoss(p=3)",
    "BatchNorm2d(3)(torch.ones(2, 3))",
    "BatchNorm1d(3)(torch.ones(1, 3))",
    "InstanceNorm2d(3)(torch.ones(2, 3))",
    "InstanceNorm1d(3)(torch.ones(2, 3, 1))",
    "Softmax2d()(torch.ones(2, 3))",
    "Upsample()(torch.ones(1, 1, 2))",
    "Linear(2, 3)()",
    "Sequential(torch.nn.ReLU())[3]",
    "ModuleList([torch.nn.ReLU()])[-2]",
    "ModuleList([3])",
    "Sequential(3)",
    "ModuleDict({'a.b': torch.nn.ReLU()})",
    "ModuleDict({'a': 1})",
    "Sequential(torch.nn.ReLU()) + 3",
    "Sequential(torch.nn.ReLU()) * 0",
    "Module()(3)",
]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_call(text):
    from .compare import message

    def said(library):
        kind, words = message(lambda: build(library, text))
        first = words.split("\n")[0].replace("rushlight", "torch").rstrip(".")
        return kind, first.partition("should be one of {")[0]  # a set, in any order

    assert said(rushlight) == ask(said)


def test_embedding(pair, reference, device):
    ours, theirs = pair(lambda lib: lib.nn.Embedding(7, 3, padding_idx=2, max_norm=1.0))
    index = both(rushlight, reference, np.array([[1, 2, 2], [6, 1, 0]]), device=device)
    out, expected = ours.to(device)(index[0]), theirs(index[1])
    assert_same(out, expected)
    assert_same(ours.weight, theirs.weight)
    out.pow(2).sum().backward()
    expected.pow(2).sum().backward()
    assert_same(ours.weight.grad, theirs.weight.grad)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embedding_bag(pair, reference, device, mode):
    ours, theirs = pair(lambda lib: lib.nn.EmbeddingBag(7, 3, mode=mode, padding_idx=0))
    index = both(rushlight, reference, np.array([1, 2, 4, 5, 4, 0]), device=device)
    offsets = both(rushlight, reference, np.array([0, 4, 4]), device=device)
    assert_same(ours.to(device)(index[0], offsets[0]), theirs(index[1], offsets[1]))
    index = both(rushlight, reference, np.array([[1, 2, 4], [5, 4, 3]]), device=device)
    out, expected = ours(index[0]), theirs(index[1])
    assert_same(out, expected)
    out.sum().backward()
    expected.sum().backward()
    assert_same(ours.weight.grad, theirs.weight.grad)


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_bags_of_one_length(device, mode, dtype):
    """A kernel adds their rows; of long ones, reductions do; on a GPU index_add, which rounds each
    sum."""
    if dtype == "bfloat16" and device != "cpu":
        return
    kind = getattr(rushlight, dtype)
    for width, length in ((1, 4), (64, 1), (67, 5), (130, 64), (3, 65)):
        weight = rushlight.randn(9, width, device=device).to(kind).requires_grad_()
        bags = rushlight.randint(0, 9, (6, length), device=device)
        rows = rushlight.nn.functional.embedding(bags, weight)
        expected = rows.mean(1) if mode == "mean" else rows.sum(1)
        out = rushlight.nn.functional.embedding_bag(bags, weight, mode=mode)
        rushlight.testing.assert_close(out, expected)
        seed = rushlight.randn_like(out)
        (of_bags,) = rushlight.autograd.grad(out, weight, seed)
        (of_rows,) = rushlight.autograd.grad(expected, weight, seed)
        rushlight.testing.assert_close(of_bags, of_rows)
    words = "range|Expected idx >= 0" if dtype == "float64" else "range"
    with pytest.raises((RuntimeError, IndexError), match=words):
        rushlight.nn.functional.embedding_bag(bags + 9, weight, mode=mode)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_bags_with_equal_elements(reference, device, dtype):
    """The first of them is the largest: it has the whole gradient."""
    grads = []
    for library, where in ((rushlight, device), (reference, "cpu")):
        table = [[1.0, 2.0], [3.0, 2.0], [3.0, 2.0], [2.0, 0.0]]
        weight = library.tensor(table, dtype=getattr(library, dtype), device=where)
        weight.requires_grad_()
        bags = library.tensor([[0, 1, 2, 3], [3, 2, 1, 0]]).to(where)
        library.nn.functional.embedding_bag(bags, weight, mode="max").sum().backward()
        grads.append(weight.grad)
    assert_same(*grads)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("padding", [None, 0])
def test_bags_of_rows_that_are_not_there(mode, dtype, padding):
    def said(library):
        layer = library.nn.EmbeddingBag(
            5, 2, mode=mode, padding_idx=padding, dtype=getattr(library, dtype)
        )
        rows = [library.tensor([[1, i]]) for i in (-1, 5)]
        return [message(lambda at=at: layer(at))[1][:70] for at in rows]

    ours, theirs = said(rushlight), ask(said)
    assert [line.splitlines()[0] for line in ours] == [line.splitlines()[0] for line in theirs]


def test_from_pretrained(on_device):
    table = rushlight.nn.Embedding.from_pretrained(rushlight.ones(2, 3))
    assert not table.weight.requires_grad
    assert rushlight.nn.Embedding.from_pretrained(rushlight.ones(2, 3), False).weight.requires_grad


@pytest.mark.parametrize(
    "text",
    [
        "LazyLinear(3)", "LazyConv2d(3, 2)", "LazyBatchNorm2d()", "LazyInstanceNorm2d()",
        "LazyInstanceNorm2d(track_running_stats=False, bias=False)",
    ],
)  # fmt: skip
def test_lazy(pair, reference, device, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = pair(lambda library: build(library, text))
    assert ours.has_uninitialized_params()
    x, y = both(rushlight, reference, random(*IMAGE), device=device)
    rushlight.manual_seed(1)
    out = ours.to(device)(x)
    reference.manual_seed(1)
    expected = theirs(y)
    if device != "cpu" and "Norm" not in text:  # a GPU has a stream of its own
        weights = {k: rushlight.tensor(v.tolist()) for k, v in theirs.state_dict().items()}
        ours.load_state_dict(weights)
        out = ours(x)
    assert_same(out, expected)
    assert repr(ours) == repr(theirs)
    assert_same(ours.weight, theirs.weight)
    assert type(ours.weight) is rushlight.nn.Parameter
    assert not ours._forward_pre_hooks


def test_missing_name():
    with pytest.raises(AttributeError, match=r"torch.nn.Nonsense is not in rushlight 0.1"):
        rushlight.nn.Nonsense
    with pytest.raises(AttributeError, match=r"torch.nn.functional.nonsense is not in"):
        rushlight.nn.functional.nonsense


WRONG = [
    "nn.EmbeddingBag(5, 2, padding_idx=9)", "nn.EmbeddingBag(5, 2, padding_idx=-9)",
    "nn.Embedding(5, 2, padding_idx=9)", "nn.utils.rnn.pad_sequence(5)",
]  # fmt: skip


@pytest.mark.parametrize("call", WRONG)
def test_words_of_wrong_calls(call):
    def said(library):
        return message(lambda: eval(call, {"nn": library.nn}))

    assert said(rushlight) == ask(said)
