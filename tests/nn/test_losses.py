"""Losses as functions and modules, against torch: values, gradients, reductions, words."""

import numpy as np
import pytest

import rushlight
from tests.conftest import ask

from .compare import assert_same, both, message, random

rng = np.random.RandomState(3)
X, Y = random(4, 3, seed=1), random(4, 3, seed=2)
P, Q = random(4, 3, seed=3, low=0.05, high=0.95), random(4, 3, seed=4, low=0.05, high=0.95)
CLASSES = np.array([0, 2, 1, 2])
SIGNS = np.array([1.0, -1.0, -1.0, 1.0], dtype=np.float32)
LABELS = np.array([[2, -1, 0], [0, 1, 2], [-1, 0, 0], [1, 2, -1]])
W = np.array([0.5, 2.0, 1.0], dtype=np.float32)
IMAGE, IMAGE_CLASSES = random(2, 3, 4, 4, seed=5), rng.randint(0, 3, (2, 4, 4))

# (name, inputs; the first ones get gradients, keyword arguments; arrays become tensors)
LOSSES = [
    ("mse_loss", [X, Y], {}),
    ("mse_loss", [X, Y], {"weight": P}),
    ("l1_loss", [X, Y], {}),
    ("smooth_l1_loss", [X, Y], {"beta": 0.5}),
    ("smooth_l1_loss", [X, Y], {"beta": 0.0}),
    ("huber_loss", [X, Y], {"delta": 0.7}),
    ("cross_entropy", [X, CLASSES], {}),
    ("cross_entropy", [X, CLASSES], {"weight": W, "ignore_index": 2, "label_smoothing": 0.1}),
    ("cross_entropy", [X, P], {"weight": W, "label_smoothing": 0.2}),
    ("cross_entropy", [IMAGE, IMAGE_CLASSES], {"weight": W}),
    ("cross_entropy", [X[0], CLASSES[0]], {}),
    ("nll_loss", [X, CLASSES], {"weight": W, "ignore_index": 1}),
    ("nll_loss", [IMAGE, IMAGE_CLASSES], {}),
    ("binary_cross_entropy", [P, Q], {}),
    ("binary_cross_entropy", [P, Q], {"weight": W}),
    ("binary_cross_entropy_with_logits", [X, Q], {}),
    ("binary_cross_entropy_with_logits", [X, Q], {"weight": W, "pos_weight": W}),
    ("kl_div", [X, Q], {}),
    ("kl_div", [X, Y], {"log_target": True}),
    ("margin_ranking_loss", [X[:, 0], Y[:, 0], SIGNS], {"margin": 0.3}),
    ("hinge_embedding_loss", [X[:, 0], SIGNS], {"margin": 0.5}),
    ("soft_margin_loss", [X[:, 0], SIGNS], {}),
    ("cosine_embedding_loss", [X, Y, SIGNS], {"margin": 0.1}),
    ("triplet_margin_loss", [X, Y, P], {"p": 2, "swap": True}),
    ("triplet_margin_with_distance_loss", [X, Y, P], {"margin": 0.4}),
    ("multi_margin_loss", [X, CLASSES], {"p": 2, "weight": W}),
    ("multi_margin_loss", [X, CLASSES], {}),
    ("multilabel_margin_loss", [X, LABELS], {}),
    ("multilabel_soft_margin_loss", [X, (Q > 0.5).astype(np.float32)], {"weight": W}),
    ("poisson_nll_loss", [X, Q * 3], {"full": True}),
    ("poisson_nll_loss", [P, Q], {"log_input": False}),
    ("gaussian_nll_loss", [X, Y, P], {"full": True}),
    ("gaussian_nll_loss", [X, Y, P[:, :1]], {}),
]
SECOND_GRADIENT = {
    "mse_loss", "l1_loss", "smooth_l1_loss", "margin_ranking_loss", "cosine_embedding_loss",
    "triplet_margin_loss", "triplet_margin_with_distance_loss",
}  # fmt: skip


def run(library, which, name, inputs, options, device="cpu"):
    tensors = [both(rushlight, library, a, device=device)[which] for a in inputs]
    for t in tensors[: 2 if name in SECOND_GRADIENT else 1]:
        t.requires_grad_()
    options = {
        k: both(rushlight, library, v, device=device)[which] if isinstance(v, np.ndarray) else v
        for k, v in options.items()
    }
    functional = (rushlight if which == 0 else library).nn.functional
    loss = getattr(functional, name)(*tensors, **options)
    loss.sum().backward()
    return [loss, *(t.grad for t in tensors if t.requires_grad)]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name, inputs, options", LOSSES)
def test_loss(reference, device, name, inputs, options, reduction):
    options = {**options, "reduction": reduction}
    ours = run(reference, 0, name, inputs, options, device)
    theirs = run(reference, 1, name, inputs, options)
    assert_same(ours, theirs)


def test_batchmean(reference, device):
    options = {"reduction": "batchmean"}
    ours = run(reference, 0, "kl_div", [X, Q], options, device)
    assert_same(ours, run(reference, 1, "kl_div", [X, Q], options))


MODULES = [
    ("MSELoss()", [X, Y]),
    ("L1Loss(reduction='sum')", [X, Y]),
    ("SmoothL1Loss(beta=0.3)", [X, Y]),
    ("HuberLoss(delta=0.4)", [X, Y]),
    ("CrossEntropyLoss(ignore_index=1, label_smoothing=0.1)", [X, CLASSES]),
    ("NLLLoss()", [X, CLASSES]),
    ("BCELoss()", [P, Q]),
    ("BCEWithLogitsLoss()", [X, Q]),
    ("KLDivLoss(reduction='batchmean', log_target=True)", [X, Y]),
    ("PoissonNLLLoss()", [X, Q]),
    ("GaussianNLLLoss()", [X, Y, P]),
    ("HingeEmbeddingLoss()", [X[:, 0], SIGNS]),
    ("SoftMarginLoss()", [X[:, 0], SIGNS]),
    ("CosineEmbeddingLoss(margin=0.2)", [X, Y, SIGNS]),
    ("MarginRankingLoss(margin=0.2)", [X[:, 0], Y[:, 0], SIGNS]),
    ("TripletMarginLoss(p=1.0)", [X, Y, P]),
    ("TripletMarginWithDistanceLoss()", [X, Y, P]),
    ("MultiMarginLoss()", [X, CLASSES]),
    ("MultiLabelMarginLoss()", [X, LABELS]),
    ("MultiLabelSoftMarginLoss()", [X, (Q > 0.5).astype(np.float32)]),
]


@pytest.mark.parametrize("text, inputs", MODULES)
def test_module(reference, device, text, inputs):
    tensors = [both(rushlight, reference, a, device=device) for a in inputs]
    ours, theirs = (eval("nn." + text, {"nn": lib.nn}) for lib in (rushlight, reference))
    assert repr(ours) == repr(theirs)
    assert_same(ours(*(a for a, _ in tensors)), theirs(*(b for _, b in tensors)))


WRONG = [
    "F.mse_loss(torch.ones(2), torch.ones(2), reduction='x')",
    "F.binary_cross_entropy(torch.ones(2), torch.ones(3))",
    "F.binary_cross_entropy(torch.ones(2), torch.tensor([1.0, 1.5]))",
    "F.binary_cross_entropy(torch.ones(2).double(), torch.tensor([-0.1, 1.0]).double())",
    "F.binary_cross_entropy(torch.ones(1), torch.tensor([float('nan')]))",
    "F.binary_cross_entropy(torch.tensor([2.0]), torch.tensor([2.0]))",
    "F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(3))",
    "F.margin_ranking_loss(torch.ones(2), torch.ones(2, 1), torch.ones(2))",
    "F.multi_margin_loss(torch.ones(2, 2), torch.tensor([0, 1]), p=3)",
    "F.multi_margin_loss(torch.ones(5, 2), torch.tensor([0, 1]))",
    "F.multi_margin_loss(torch.ones(2, 2), torch.tensor([[0], [1]]))",
    "F.multi_margin_loss(torch.ones(2), torch.tensor([0, 1]))",
    "F.multi_margin_loss(torch.ones(2, 2, 2), torch.tensor([0, 1]))",
    "F.multi_margin_loss(torch.ones(2, 0), torch.tensor([0, 1]))",
    "F.multi_margin_loss(torch.ones(2, 3), torch.tensor([0, 1]), weight=torch.ones(2))",
    "F.multi_margin_loss(torch.ones(0, 3), torch.tensor([]).long(), weight=torch.ones(1))",
    "torch.nn.HuberLoss(delta=1j)",
    "F.triplet_margin_loss(torch.ones(2, 3), torch.ones(2, 3), torch.ones(3))",
    "F.triplet_margin_with_distance_loss(torch.ones(3), torch.ones(2, 3), torch.ones(3))",
    "F.gaussian_nll_loss(torch.ones(2), torch.ones(2), -torch.ones(2))",
    "F.gaussian_nll_loss(torch.ones(2, 3), torch.ones(2, 3), torch.ones(4))",
    "F.triplet_margin_loss(torch.ones(2), torch.ones(2), torch.ones(2), margin=0)",
    "F.cosine_embedding_loss(torch.ones(2), torch.ones(2), torch.ones(2))",
    "F.dropout(torch.ones(2), 1.5)",
    "F.glu(torch.ones(3))",
    "F.hardtanh(torch.ones(3), 1, 0)",
    "F.pad(torch.ones(1, 3), (1,))",
    "F.pad(torch.ones(1, 1, 3), (3, 0), mode='reflect')",
    "F.pad(torch.ones(1, 3), (1, 1), mode='reflect', value=1.0)",
    "F.pixel_shuffle(torch.ones(1, 3, 2, 2), 2)",
    "F.pixel_unshuffle(torch.ones(1, 3, 3, 2), 2)",
    "F.interpolate(torch.ones(1, 1, 2))",
    "F.interpolate(torch.ones(1, 1, 2), size=3, scale_factor=2)",
    "F.interpolate(torch.ones(1, 1, 2), size=(3, 3))",
    "F.interpolate(torch.ones(1, 1, 2), size=3, align_corners=True)",
    "F.embedding_bag(torch.tensor([1]), torch.ones(2, 2))",
    "F.embedding_bag(torch.tensor([[1]]), torch.ones(2, 2), torch.tensor([0]))",
    "F.embedding_bag(torch.tensor([[1]]), torch.ones(2, 2), mode='x')",
    "F.embedding_bag(torch.tensor([[1]]), torch.ones(2, 2), scale_grad_by_freq=True, mode='max')",
    "F.batch_norm(torch.ones(1, 2), None, None, training=True)",
    "F.local_response_norm(torch.ones(2, 2), 2)",
    "F.softmax(torch.ones(2), dim=3)",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", WRONG)
def test_wrong_call(reference, text):
    ours, theirs = (
        message(lambda lib=lib: eval(text, {"torch": lib, "F": lib.nn.functional}))
        for lib in (rushlight, reference)
    )
    assert ours[0] == theirs[0]
    assert ours[1].split("\n")[0].replace("rushlight", "torch") == theirs[1].split("\n")[0]


def test_warnings(reference, on_device):
    for library in (rushlight, reference):
        functional = library.nn.functional
        x = library.ones(2, 2)
        with pytest.warns(UserWarning, match="Using a target size"):
            functional.mse_loss(x, library.ones(2))
        with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
            functional.softmax(x)
        with pytest.warns(UserWarning, match="reduction: 'mean' divides the total loss"):
            functional.kl_div(x, x)
        with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
            functional.mse_loss(x, x, size_average=False)
        with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
            assert library.nn.MSELoss(reduce=False).reduction == "none"


def multilabel_margin(x, y):
    """By definition, of one row: the loss and its gradient."""
    targets = []
    for label in y:
        if label < 0:
            break
        targets.append(label)
    loss, gradient = 0.0, [0.0] * len(x)
    for t in targets:
        for i in range(len(x)):
            gap = 1 - x[t] + x[i]
            if i not in targets and gap > 0:
                loss += gap / len(x)
                gradient[i] += 1 / len(x)
                gradient[t] -= 1 / len(x)
    return loss, gradient


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("offset", [0.0, 256.0])
def test_multilabel_margins_of_any_width(dtype, offset, device):
    dtype = getattr(rushlight, dtype)
    rushlight.manual_seed(2)
    for c in (*range(1, 42), 130):
        x = (rushlight.randn(3, c).mul(2).round() / 2 + offset).to(dtype)  # of which many are equal
        y = rushlight.randint(0, c, (3, c))
        y[0, c // 2 :], y[1, 0] = -1, -1
        leaf = x.to(device).requires_grad_()
        loss = rushlight.nn.functional.multilabel_margin_loss(leaf, y.to(device), reduction="none")
        loss.sum().backward()
        rtol = {"float64": 1e-12, "float32": 1e-5}.get(str(dtype).split(".")[1], 0.03)
        for row in range(3):
            expected, gradient = multilabel_margin(x[row].tolist(), y[row].tolist())
            assert loss.dtype is dtype and loss[row].item() == pytest.approx(expected, rel=rtol)
            found = leaf.grad[row].tolist()
            assert found == pytest.approx(gradient, rel=10 * rtol, abs=10 * rtol)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_shapes_of_multi_margin_losses(device, shape, batched, reduction):
    def loss(library, where="cpu"):
        x = library.arange(4.0, device=where)
        target = library.full(shape, 2, device=where)
        x = x[None] if batched else x
        out = library.nn.functional.multi_margin_loss(x, target, reduction=reduction)
        return list(out.shape), out.tolist()

    assert loss(rushlight, device) == ask(loss)


@pytest.mark.parametrize("planes", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("offset", [0.0, 30.0, 1000.0])
def test_small_losses_keep_their_digits(offset, smoothing, planes, device):
    """However large the logits are: the largest is never added to the logarithm of the sum."""
    random = np.random.RandomState(0)
    x = (random.randn(50, 10) + offset).astype(np.float32)
    x[:, 3] += 9  # whose loss is about 1e-3
    target = rushlight.full((50,), 3, device=device)

    def results(dtype):
        logits = rushlight.tensor(x, dtype=dtype, device=device, requires_grad=True)
        scores, classes = logits, target
        if planes:
            scores, classes = logits.T.reshape(1, 10, 50), target.view(1, 50)
        loss = rushlight.nn.functional.cross_entropy(
            scores, classes, reduction="none", label_smoothing=smoothing
        )
        loss.sum().backward()
        return loss.detach().cpu().double().flatten(), logits.grad.cpu().double()

    for ours, exact in zip(results(rushlight.float32), results(rushlight.float64), strict=True):
        assert ((ours - exact).abs() <= 3e-3 * exact.abs() + 1e-6 * (smoothing > 0)).all()
