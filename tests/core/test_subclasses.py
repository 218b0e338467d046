"""Subclasses of Tensor: what operations make of their instances, compared with torch."""

import copy
import pickle

import pytest

import rushlight
from tests.conftest import ask

RESULTS = {
    "operators": "x + 1, 1 + x, x * torch.ones(3), torch.ones(3) * x, x - y, y - x, x @ x.T, -x",
    "comparisons": "x > 0, x == x, x.all(), torch.isnan(x), abs(x), x // 2, x % 2",
    "functions": "torch.add(x, 1), torch.stack([x, x]), torch.cat([torch.ones(2, 3), x])",
    "layers": "F.relu(x), F.mse_loss(x, x), F.dropout(x), torch.nn.Linear(3, 2)(x), x.softmax(1)",
    "reductions": "x.sum(), x.mean(0), x.std(), x.norm(), x.argmax(), x.quantile(0.5)",
    "pairs": "x.max(1), x.topk(1), x.sort()",
    "lists": "x.split(1), x.chunk(2), x.unbind(), list(x)",
    "views": "x.view(-1), x.T, x.permute(1, 0), x.expand(2, 3), x[0], x[:, 1:]",
    "copies": "x.clone(), x.detach(), x.data, x.to(torch.float64), x.float(), x.contiguous()",
    "like": "torch.zeros_like(x), torch.rand_like(x), x.new_ones(2), torch.where(x > 0, x, x)",
    "in place": "x.add_(1), x.zero_(), x.requires_grad_()",
    "made": "MyT([1, 2]), MyT(torch.ones(2)), torch.Tensor._make_subclass(MyT, torch.ones(2))",
    "others": "torch.tensor(x), x.as_subclass(torch.Tensor), x.numpy(), x.tolist(), x.shape",
    "parameters": "torch.nn.Parameter(torch.ones(3)) * 2, torch.nn.Parameter(torch.ones(3)) * x",
    "disabled": "plain + 1, plain.sum(), plain.T",
}


def kinds(value):
    if isinstance(value, tuple | list):
        return type(value).__name__, [kinds(v) for v in value]
    return type(value).__name__


def places(torch):
    class MyT(torch.Tensor):
        pass

    class Sub(MyT):
        pass

    class Plain(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    return {
        "torch": torch, "F": torch.nn.functional, "MyT": MyT,
        "x": torch.ones(2, 3).as_subclass(MyT), "y": torch.ones(2, 3).as_subclass(Sub),
        "plain": torch.ones(2, 3).as_subclass(Plain),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:To copy construct")
@pytest.mark.parametrize("text", RESULTS.values(), ids=RESULTS)
def test_classes_of_results(text):
    def results(torch):
        return kinds(eval(f"({text},)", places(torch)))

    assert results(rushlight) == ask(results)


def test_a_subclass_with_attributes():
    class Labelled(rushlight.Tensor):
        @staticmethod
        def __new__(cls, data, label=None):
            return super().__new__(cls, data)

        def __init__(self, data, label=None):
            self.label = label

    x = Labelled([1.0, 2.0], label="a")
    assert repr(x) == "Labelled([1., 2.])" and x.label == "a"
    assert type(x + 1) is Labelled and not hasattr(x + 1, "label")
    assert copy.deepcopy(x).label == "a"


def test_gradients_and_identity():
    class MyT(rushlight.Tensor):
        pass

    x = rushlight.ones(2).as_subclass(MyT).requires_grad_()
    total = (x * 3).sum()
    total.backward()
    assert type(total) is MyT and x.grad.tolist() == [3.0, 3.0]
    plain = rushlight.ones(2)
    rushlight.add(x.detach(), 1, out=plain)
    assert type(plain) is rushlight.Tensor  # a tensor that the program holds keeps its class
    assert type(rushlight.ones(2) + 1) is rushlight.Tensor
    assert type(pickle.loads(pickle.dumps(rushlight.ones(1)))) is rushlight.Tensor


def test_many_come_and_go():
    import gc

    class MyT(rushlight.Tensor):
        pass

    x = rushlight.ones(2).as_subclass(MyT)
    for _ in range(1000):
        made = [x + 1, *x.split(1), x.max(0)]
        made[0].self = made  # a cycle
    del made
    gc.collect()
    assert not [o for o in gc.get_objects() if type(o) is MyT and o is not x]


def test_what_fails_says_why():
    """Functions, methods and operators of an instance of a subclass raise the operation's error."""

    class MyT(rushlight.Tensor):
        pass

    x = rushlight.ones(2, 3).as_subclass(MyT)
    with pytest.raises(RuntimeError, match="must be batches of square matrices"):
        rushlight.det(x)
    with pytest.raises(RuntimeError, match="must be batches of square matrices"):
        x.det()
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        x @ x
    with pytest.raises(RuntimeError, match="At least one of 'min' or 'max'"):
        rushlight.clamp(x)
