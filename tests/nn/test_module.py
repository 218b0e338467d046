"""Module's bookkeeping, against torch's words and behaviour."""

import copy
import gc
import inspect
import pickle
import weakref
from collections import OrderedDict

import pytest

import rushlight as torch
from rushlight import nn
from tests.conftest import ask

from .compare import message

pytestmark = pytest.mark.usefixtures("on_device")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(2, 1, bias=False))
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("scratch", torch.ones(2), persistent=False)

    def forward(self, x, scale=1.0):
        return self.head(self.fc(x)) * scale


def make(library):
    """The same net as Net over either library's classes."""
    base = library.nn

    class N(base.Module):
        def __init__(self):
            super().__init__()
            self.fc = base.Linear(3, 2)
            self.w = base.Parameter(library.ones(2))
            self.register_buffer("seen", library.zeros(1))

    return N()


def test_walks():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["fc.weight", "fc.bias", "head.1.weight"]
    assert [n for n, _ in net.named_buffers()] == ["seen", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "fc", "head", "head.0", "head.1"]
    assert [n for n, _ in net.named_children()] == ["fc", "head"]
    assert [n for n, _ in net.named_parameters("p", recurse=False)] == []
    assert inspect.isgenerator(net.parameters())
    assert str(type(net.parameters())) == "<class 'generator'>"
    assert list(net.state_dict()) == ["seen", "fc.weight", "fc.bias", "head.1.weight"]
    shared = nn.Linear(2, 2)
    twice = nn.ModuleList([shared, shared])
    assert len(list(twice.parameters())) == 2
    assert len(list(twice.named_parameters(remove_duplicate=False))) == 4
    assert len(list(twice.modules())) == 2
    assert len(list(twice.named_modules(remove_duplicate=False))) == 3


def test_attributes_are_plain():
    net = Net()
    assert net.__dict__["fc"] is net._modules["fc"] is net.fc
    new = nn.Linear(3, 2)
    net._modules["fc"] = new
    assert net.fc is new
    net.fc.weight = nn.Parameter(torch.zeros(2, 3))
    assert net.fc._parameters["weight"] is net.fc.weight
    del net.fc.bias
    assert "bias" not in net.fc._parameters and not hasattr(net.fc, "bias")
    net.fc.bias = None
    assert net.fc.bias is None
    net._parameters = OrderedDict(a=nn.Parameter(torch.ones(1)))
    assert [n for n, _ in net.named_parameters(recurse=False)] == ["a"]
    assert net.a is net._parameters["a"]
    net.a = None
    assert net.a is None and "a" in net._parameters
    net.seen = torch.ones(4)
    assert net._buffers["seen"] is net.seen
    net.seen = None
    assert net.seen is None
    net.extra = 3
    net.extra = nn.ReLU()
    assert "extra" in net._modules
    with pytest.raises(TypeError):
        net.extra = 3
    del net.extra
    net.extra = 3
    assert net.extra == 3


def test_a_dead_module_goes_at_once():
    net = Net()
    gone = weakref.ref(net)
    gc.disable()
    try:
        del net
        assert gone() is None
    finally:
        gc.enable()


WRONG = {
    "register_parameter": [("a.b", None), ("", None), (3, None), ("training", None), ("w2", 3)],
    "register_buffer": [("a.b", None), ("", None), (3, None), ("training", None), ("w2", 3)],
    "add_module": [("a.b", None), ("", None), (3, None), ("training", None), ("w2", 3)],
    "get_submodule": [("a.b",), ("fc.weight",)],
    "get_parameter": [("fc.x",), ("fc",), ("seen",)],
    "get_buffer": [("fc.x",), ("fc",), ("fc.weight",)],
    "set_submodule": [("", None), ("q", None), ("fc", 3)],
    "load_state_dict": [(3,), ({},), ({"fc.weight": 3, "x": 1},)],
    "train": [(3,)],
    "__call__": [(1,)],
    "__getattribute__": [("foo",)],
    "__delattr__": [("foo",)],
    "__setattr__": [("fc", 3), ("w", 3), ("seen", 3)],
}
CASES = [(name, args) for name, calls in WRONG.items() for args in calls]


@pytest.mark.parametrize("name, args", CASES)
def test_wrong_calls(pair, name, args):
    ours, theirs = pair(lambda library: message(lambda: getattr(make(library), name)(*args)))
    assert ours == theirs


@pytest.mark.parametrize(
    "expression",
    [
        "setattr(m.fc, 'weight', torch.zeros(2))",
        "m.register_parameter('q', torch.zeros(2))",
        "m.register_parameter('q', m.w * 2)",
        "m.load_state_dict({'fc.weight': torch.zeros(3), 'w': torch.ones(2)})",
        "m.load_state_dict({'fc.weight': torch.zeros(3), 'z.w': torch.ones(2)}, strict=False)",
        "m.to(torch.int64)",
        "m.to('cpu', copy=True)",
        "m.to('cpu', torch.float64, False, False)",
        "torch.nn.Module(3)",
        "torch.nn.Module(a=3)",
        "torch.nn.Parameter(3)",
        "torch.nn.Parameter([1.0])",
        "torch.nn.Parameter(torch.zeros(2, dtype=torch.int64))",
        "m.to([1])",
    ],
)
def test_words(pair, expression):
    mine, right = pair(
        lambda library: message(lambda: eval(expression, {"m": make(library), "torch": library}))
    )
    assert mine[0] == right[0]
    assert mine[1].replace("torch.cuda.", "torch.").startswith(right[1])


@pytest.mark.parametrize("what", ["nn.Linear(1, 1)", "nn.Parameter(torch.ones(1))"])
def test_assignment_before_init(what):
    def build(library):
        value = eval(what, {"nn": library.nn, "torch": library})

        class Bad(library.nn.Module):
            def __init__(self):
                self.x = value

        return Bad

    assert message(build(torch)) == ask(lambda t: message(build(t)))


def test_load_state_dict():
    a, b = Net(), Net()
    keys = a.load_state_dict(b.state_dict())
    assert repr(keys) == "<All keys matched successfully>"
    assert a.fc.weight.tolist() == b.fc.weight.tolist()
    missing, unexpected = a.load_state_dict({"x": torch.ones(1)}, strict=False)
    assert missing == ["seen", "fc.weight", "fc.bias", "head.1.weight"] and unexpected == ["x"]
    old = a.fc.weight.tolist()
    wrong = {k: torch.zeros_like(v) for k, v in b.state_dict().items()}
    wrong["head.1.weight"] = torch.zeros(7)
    with pytest.raises(RuntimeError, match=r"size mismatch for head\.1\.weight"):
        a.load_state_dict(wrong)
    assert a.fc.weight.tolist() == old, "nothing is written when something does not fit"
    new = {k: torch.zeros_like(v) for k, v in b.state_dict().items()}
    weight = a.fc.weight
    a.load_state_dict(new, assign=True)
    assert a.fc.weight is not weight and isinstance(a.fc.weight, nn.Parameter)
    assert a.seen is new["seen"]


def test_extra_state_and_hooks():
    class Extra(nn.Module):
        def __init__(self):
            super().__init__()
            self.x = 1

        def get_extra_state(self):
            return {"x": self.x}

        def set_extra_state(self, state):
            self.x = state["x"]

    net = nn.Sequential(Extra())
    net[0].x = 5
    state = net.state_dict()
    assert state == {"0._extra_state": {"x": 5}}
    fresh = nn.Sequential(Extra())
    fresh.load_state_dict(state)
    assert fresh[0].x == 5
    with pytest.raises(RuntimeError, match=r'Missing key.*"0\._extra_state"'):
        fresh.load_state_dict({})

    net, calls = nn.Linear(2, 1), []
    net.register_state_dict_pre_hook(lambda m, prefix, keep: calls.append(("pre", prefix)))
    net.register_state_dict_post_hook(lambda m, d, prefix, meta: d.pop("bias") and None)
    assert list(net.state_dict()) == ["weight"] and calls == [("pre", "")]
    net = nn.Linear(2, 1)
    net.register_load_state_dict_pre_hook(lambda m, d, *rest: d.pop("old", None) and None)
    net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    net.load_state_dict({"weight": torch.zeros(1, 2), "old": 1})
    assert net.weight.tolist() == [[0.0, 0.0]]


def test_forward_hooks():
    net, calls = Net(), []
    x = torch.ones(1, 3)
    plain = net(x).item()
    handle = net.register_forward_pre_hook(lambda m, args: (args[0] * 0,))
    assert net(x).item() != plain
    handle.remove()
    with net.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"scale": 2.0}), with_kwargs=True
    ):
        assert net(x, scale=1.0).item() == pytest.approx(2 * plain)
    net.register_forward_hook(lambda m, args, out: calls.append("second"))
    net.register_forward_hook(lambda m, args, out: calls.append("first"), prepend=True)
    net.register_forward_hook(lambda m, a, k, out: out + 1, with_kwargs=True)
    assert net(x, scale=1.0).item() == pytest.approx(plain + 1)
    assert calls == ["first", "second"]
    net.register_forward_hook(lambda m, args, out: calls.append("always"), always_call=True)
    with pytest.raises(TypeError):
        net(x, nonsense=1)
    assert calls == ["first", "second", "always"]


def test_global_hooks():
    from rushlight.nn.modules.module import everywhere

    seen = []
    first = nn.modules.register_module_forward_hook(lambda m, a, o: seen.append(type(m).__name__))
    with nn.modules.register_module_module_registration_hook(lambda m, n, sub: seen.append(n)):
        net = nn.Sequential(nn.ReLU())
    net(torch.ones(1))
    first.remove()
    net(torch.ones(1))
    assert seen == ["0", "ReLU", "Sequential"]
    assert not everywhere.active


def test_backward_hooks(pair):
    def run(library):
        seen = []
        net = library.nn.Sequential(library.nn.Linear(3, 2), library.nn.Tanh())
        net[1].register_full_backward_pre_hook(lambda m, g: seen.append(("pre", g)))
        net[1].register_full_backward_hook(lambda m, gi, go: seen.append(("post", gi, go)))
        net[0].register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
        net[0].weight.data.fill_(0.5)
        net[0].bias.data.fill_(0.0)
        x = library.ones(1, 3, requires_grad=True)
        net(x).sum().backward()
        flat = [
            [t.tolist() if t is not None else None for part in entry[1:] for t in part]
            for entry in seen
        ]
        return flat, x.grad.tolist()

    (ours, grad), (theirs, right) = pair(run)
    for a, b in zip(ours, theirs, strict=True):
        assert [pytest.approx(x[0], abs=1e-6) for x in a] == [x[0] for x in b]
    assert grad[0] == pytest.approx(right[0])


def test_conversions(device):
    net = Net()
    weight = net.fc.weight
    assert net.double() is net
    assert net.fc.weight is weight and weight.dtype == torch.float64
    assert net.to(torch.float16).seen.dtype == torch.float16
    assert net.to(device).to(torch.ones(1)).fc.weight.dtype == torch.float32
    assert net.to(device=device, dtype=torch.bfloat16).fc.weight.dtype == torch.bfloat16
    assert net.float().half().bfloat16().fc.weight.dtype == torch.bfloat16
    assert net.type(torch.float32).seen.dtype == torch.float32
    assert nn.BatchNorm1d(2).half().num_batches_tracked.dtype == torch.int64
    layer = nn.Linear(2, 1)
    layer(torch.ones(1, 2)).backward()
    layer.double()
    assert layer.weight.grad.dtype == torch.float64
    assert net.to_empty(device=device).fc.weight.shape == (2, 3)
    assert not any(p.requires_grad for p in net.requires_grad_(False).parameters())


def test_modes_and_grads():
    net = Net()
    assert net.eval() is net and not net.head[0].training
    assert net.train().head.training
    net(torch.ones(1, 3)).sum().backward()
    grad = net.fc.weight.grad
    net.zero_grad(set_to_none=False)
    assert net.fc.weight.grad is grad and grad.abs().sum().item() == 0
    net.zero_grad()
    assert net.fc.weight.grad is None
    assert net.compile() is None


def test_copies_and_pickles():
    net = Net()
    net.custom = {"a": 1}
    handle = net.register_forward_hook(_add_one)
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert repr(twin) == repr(net) and twin.custom == {"a": 1}
        assert twin.fc.weight is not net.fc.weight
        assert twin.fc.weight.tolist() == net.fc.weight.tolist()
        assert isinstance(twin.fc.weight, nn.Parameter)
        assert twin(torch.ones(1, 3)).item() == net(torch.ones(1, 3)).item()
        twin.fc.weight = nn.Parameter(torch.zeros(2, 3))
        assert twin.fc._parameters["weight"] is twin.fc.weight
        assert not twin.seen.requires_grad and "scratch" not in twin.state_dict()
    handle.remove()
    state = net.__getstate__()
    assert "fc" not in state and "fc" in state["_modules"]
    assert type(state["_modules"]) is dict and state["_forward_hooks"] == {}
    shallow = copy.copy(net)
    assert shallow.fc is net.fc


def _add_one(module, args, output):
    return output + 1


class OwnState(nn.Module):
    """As programs do that pickle by hand."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
        self.handle = open

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["handle"]
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.handle = None


def test_state_by_hand():
    twin = pickle.loads(pickle.dumps(OwnState()))
    assert twin.handle is None and twin.fc.weight.shape == (1, 2)
    twin.fc = nn.Linear(3, 3)
    assert twin._modules["fc"] is twin.fc
    assert [n for n, _ in twin.named_parameters()] == ["fc.weight", "fc.bias"]


def test_torch_state():
    """A state as torch pickles it."""
    net = Net.__new__(Net)
    parameters = OrderedDict(w=nn.Parameter(torch.ones(2)))
    net.__setstate__(
        {
            "training": False,
            "_parameters": parameters,
            "_buffers": OrderedDict(),
            "_modules": OrderedDict(fc=nn.Linear(1, 1)),
            "_forward_hooks": OrderedDict(),
        }
    )
    assert net.w is parameters["w"] and not net.training and net.fc.weight.shape == (1, 1)
    assert not net._hooked


def test_own_getattr():
    class Wrapper(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    wrapped = Wrapper(nn.Linear(2, 3))
    assert wrapped.out_features == 3
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'nonsense'"):
        wrapped.nonsense


def test_instance_forward():
    net = nn.Linear(1, 1)
    net.forward = lambda x: x + 41
    assert net(torch.ones(1)).item() == 42


def test_error_says_where(device):
    net = nn.Sequential(OrderedDict(body=nn.Sequential(nn.ReLU(), nn.Linear(3, 2))))
    with pytest.raises(RuntimeError) as caught:
        net(torch.ones(1, 4))
    (note,) = caught.value.__notes__
    assert note.startswith("in Sequential.body.1: Linear(in_features=3, out_features=2, bias=True)")
    assert f"weight: [2, 3] torch.float32 on {device}" in note


def test_dir():
    names = dir(Net())
    assert {"fc", "head", "seen", "forward"} <= set(names)
    assert "0" not in dir(nn.Sequential(nn.ReLU()))


def test_parameter(device):
    data = torch.ones(2)
    p = nn.Parameter(data)
    assert p.requires_grad and p.is_leaf and isinstance(p, torch.Tensor)
    data[0] = 5
    assert p[0].item() == 5
    where = "" if device == "cpu" else f" device='{device}',"
    assert repr(p) == f"Parameter containing:\ntensor([5., 1.],{where} requires_grad=True)"
    assert str(p) == f"{p}" == repr(p)
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert type(copy.deepcopy(p)) is nn.Parameter
    assert type(p * 2) is torch.Tensor and type(p.detach()) is torch.Tensor
    buffer = nn.Buffer(torch.ones(2))
    assert isinstance(buffer, nn.Buffer) and type(buffer) is torch.Tensor
    net = nn.Module()
    net.b = buffer
    net.hidden = nn.Buffer(torch.ones(1), persistent=False)
    assert list(net.state_dict()) == ["b"]
    assert [n for n, _ in net.named_buffers()] == ["b", "hidden"]


def test_containers():
    net = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    assert repr(net[1:]) == "Sequential(\n  (1): Tanh()\n  (2): Sigmoid()\n)"
    net.insert(1, nn.Identity())
    net.append(nn.GELU()).extend([nn.ReLU()])
    assert [type(m).__name__ for m in net] == [
        "ReLU",
        "Identity",
        "Tanh",
        "Sigmoid",
        "GELU",
        "ReLU",
    ]
    del net[0]
    assert list(net._modules) == ["0", "1", "2", "3", "4"]
    assert type(net.pop(-1)) is nn.ReLU
    net[0] = nn.ELU()
    assert type(net[0]) is nn.ELU
    assert len(net * 2) == 8 and len(net + net) == 8
    items = nn.ModuleList([nn.ReLU()])
    items += [nn.Tanh()]
    items.insert(0, nn.ELU())
    assert [type(m) for m in items[::-1]] == [nn.Tanh, nn.ReLU, nn.ELU]
    assert len(items + items) == 6
    table = nn.ModuleDict([("a", nn.ReLU())])
    table["b"] = nn.Tanh()
    assert list(table) == ["a", "b"] and "a" in table and type(table.pop("a")) is nn.ReLU
    table.update({"c": nn.ELU()})
    assert [k for k, v in table.items()] == ["b", "c"]
    table.clear()
    assert len(table) == 0
    values = nn.ParameterList([torch.ones(1), nn.Parameter(torch.zeros(1))])
    assert all(isinstance(p, nn.Parameter) for p in values) and len(values[:1]) == 1
    assert [n for n, _ in values.named_parameters()] == ["0", "1"]
    named = nn.ParameterDict({"x": torch.ones(1)})
    named["y"] = torch.zeros(1)
    assert list(named.keys()) == ["x", "y"] and named.pop("x").item() == 1
    assert len(list(named.parameters())) == 1


def test_what_is_left_of_a_sequential_is_numbered_anew():
    def left(library, kind, index):
        nn = library.nn
        named = OrderedDict(a=nn.ReLU(), b=nn.Tanh(), c=nn.Sigmoid())
        seq = nn.Sequential(named) if kind == "named" else nn.Sequential(*named.values())
        del seq[index]
        return [(name, type(module).__name__) for name, module in seq.named_children()]

    for kind in ("named", "numbered"):
        for index in (0, 1, -1, slice(1, None), slice(0, 3, 2)):
            theirs = ask(lambda t, kind=kind, index=index: left(t, kind, index))
            assert left(torch, kind, index) == theirs
