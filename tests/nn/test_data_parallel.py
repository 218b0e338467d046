"""DataParallel equals the single device, for every batch size and number of devices."""

import collections
import copy
import io
import warnings

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn.parallel import (
    data_parallel,
    gather,
    parallel_apply,
    replicate,
    scatter,
)

cuda = torch.cuda


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 4)
        self.second = nn.Linear(4, 2)
        self.register_buffer("scale", torch.full((2,), 0.5))
        self.sizes = []

    def forward(self, x):
        self.sizes.append(x.size(0))
        return self.second(torch.tanh(self.first(x))) * self.scale


def chunks(size, devices):
    each = -(-size // devices)
    return [min(each, size - start) for start in range(0, size, each)] if size else [0]


@pytest.mark.parametrize("devices", range(1, 9))
def test_gradients_equal_the_single_device(devices):
    torch.manual_seed(1)
    single = Net().double()
    with cuda.virtual(devices):
        parallel = nn.DataParallel(copy.deepcopy(single)).cuda()
        for size in range(21):
            x = torch.randn(size, 5, dtype=torch.float64)
            target = torch.randn(size, 2, dtype=torch.float64)
            ours, theirs = x.clone().requires_grad_(), x.cuda().requires_grad_()
            single.zero_grad()
            parallel.zero_grad()
            expected, out = single(ours), parallel(theirs)
            assert out.shape == expected.shape and str(out.device) == "cuda:0"
            assert torch.allclose(out.cpu(), expected)
            ((expected - target) ** 2).sum().backward()
            ((out - target.cuda()) ** 2).sum().backward()
            for a, b in zip(single.parameters(), parallel.parameters(), strict=True):
                assert str(b.grad.device) == "cuda:0"
                assert torch.allclose(b.grad.cpu(), a.grad, atol=1e-12), (devices, size)
            assert torch.allclose(theirs.grad.cpu(), ours.grad, atol=1e-12)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 10, 30])
def test_batches_split_as_chunk_splits(size, virtual_gpus):
    seen = []

    class Report(nn.Linear):
        def forward(self, x):
            seen.append((x.size(0), str(x.device), cuda.current_device()))
            return super().forward(x)

    net = nn.DataParallel(Report(5, 2)).cuda()
    net(torch.ones(size, 5))
    assert [n for n, _, _ in seen] == chunks(size, 4)
    assert [(d, i) for _, d, i in seen] == [(f"cuda:{i}", i) for i in range(len(seen))]


def test_without_a_gpu_it_runs_the_module_as_it_is():
    inner = Net()
    net = nn.DataParallel(inner)
    assert net.module is inner and net.device_ids == []
    x = torch.ones(3, 5)
    assert torch.equal(net(x), inner(x))
    assert data_parallel(nn.Linear(5, 1), x).shape == (3, 1)


def test_names_of_nodes(virtual_gpus):
    x = torch.ones(4, 5, device="cuda", requires_grad=True)
    net = nn.DataParallel(nn.Linear(5, 2)).cuda()
    out = net(x)
    assert out.grad_fn.name() == "GatherBackward"
    assert "grad_fn=<GatherBackward>" in repr(out)
    one = nn.DataParallel(nn.Linear(5, 2), device_ids=[1])
    assert str(one.module.weight.device) == "cuda:1"
    assert one(x).grad_fn.name() == "AddmmBackward0"
    replica = replicate(net.module, [0, 1])[1]
    assert replica.weight.grad_fn.name() == "BroadcastBackward"
    parts = scatter(x, [0, 1])
    assert parts[0].grad_fn.name() == "ScatterBackward"


def test_state_dict_has_the_prefix(virtual_gpus):
    net = nn.DataParallel(Net()).cuda()
    names = list(net.state_dict())
    assert names[:2] == ["module.scale", "module.first.weight"]
    plain = Net()
    plain.load_state_dict({k.removeprefix("module."): v for k, v in net.state_dict().items()})
    again = nn.DataParallel(Net()).cuda()
    again.load_state_dict(net.state_dict())
    x = torch.ones(7, 5)
    assert torch.allclose(plain(x), again(x).cpu())
    file = io.BytesIO()
    torch.save(net, file)
    file.seek(0)
    assert torch.allclose(torch.load(file, weights_only=False)(x), net(x))


def test_parameters_elsewhere(virtual_gpus):
    net = nn.DataParallel(Net().cuda(2), device_ids=[1, 2])
    words = (
        r"module must have its parameters and buffers on device cuda:1 \(device_ids\[0\]\) but "
        "found one of them on device: cuda:2"
    )
    with pytest.raises(RuntimeError, match=words) as caught:
        net(torch.ones(2, 5))
    assert "parameter first.weight is on cuda:2" in str(caught.value)
    net.to("cuda:1")
    assert str(net(torch.ones(2, 5)).device) == "cuda:1"
    net.module.scale = net.module.scale.cpu()
    with pytest.raises(RuntimeError, match="found one of them on device: cpu") as caught:
        net(torch.ones(2, 5))
    assert "buffer scale" in str(caught.value)


def test_output_device_and_dim(virtual_gpus):
    net = nn.DataParallel(nn.Identity(), [0, 1, 2], output_device=3, dim=1)
    x = torch.arange(10.0).reshape(2, 5)
    out = net(x)
    assert str(out.device) == "cuda:3" and torch.equal(out.cpu(), x)


Point = collections.namedtuple("Point", "x y")


def test_arguments_of_every_kind(virtual_gpus):
    seen = []

    class Look(nn.Module):
        def forward(self, *args, **kwargs):
            seen.append((args, kwargs))
            return args[0]

    x = torch.arange(6.0)
    number = torch.tensor(3.0)
    given = (x, None, "text", 5, [x, "a"], {"k": x, "m": None}, Point(x, 1), number, (), [], {})
    nn.DataParallel(Look(), [0, 1, 2])(*given, scale=2, mask=x, empty=())
    assert len(seen) == 3
    for i, (args, kwargs) in enumerate(seen):
        part, device = x[2 * i : 2 * i + 2], f"cuda:{i}"
        assert torch.equal(args[0].cpu(), part) and str(args[0].device) == device
        assert args[1:4] == (None, "text", 5) and args[4][1] == "a" and args[5]["m"] is None
        assert torch.equal(args[4][0].cpu(), part) and torch.equal(args[5]["k"].cpu(), part)
        assert isinstance(args[6], Point) and args[6].y == 1
        assert args[7].item() == 3 and str(args[7].device) == device
        assert args[8:] == ((), [], {})
        assert kwargs["scale"] == 2 and torch.equal(kwargs["mask"].cpu(), part)
        assert kwargs["empty"] == ()


def test_keyword_arguments_alone_and_small_batches(virtual_gpus):
    class Add(nn.Module):
        def forward(self, x=None, *, by=1, name="n"):
            return x + by

    net = nn.DataParallel(Add())
    for size in range(1, 7):
        x = torch.arange(float(size))
        assert net(x=x, by=2).tolist() == (x + 2).tolist()
        assert net(x, name="m").tolist() == (x + 1).tolist()


def test_nothing_to_split_runs_once(virtual_gpus):
    calls = []

    class Make(nn.Module):
        def forward(self, n=2):
            calls.append(n)
            return torch.ones(n, device="cuda")

    net = nn.DataParallel(Make())
    assert net().shape == (2,) and net(3).shape == (3,) and net(n=4).shape == (4,)
    assert calls == [2, 3, 4]


def test_unequal_batches_refuse(virtual_gpus):
    with pytest.raises(ValueError, match=r"\(10,\) makes 4 chunks and one of shape \(5,\) makes 3"):
        nn.DataParallel(nn.PairwiseDistance())(torch.ones(10), torch.ones(5))


def test_results_of_every_kind(virtual_gpus):
    class Results(nn.Module):
        def forward(self, x):
            return {
                "x": x * 2,
                "loss": x.sum(),
                "list": [x, x + 1],
                "point": Point(x, "same"),
                "name": "net",
                "none": None,
                "size": x.size(0),
                "flag": True,
                "words": [str(int(v)) for v in x],
            }

    x = torch.arange(7.0, device="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = nn.DataParallel(Results())(x)
    assert torch.equal(out["x"], x * 2) and out["loss"].shape == (4,)
    assert out["loss"].sum().item() == 21
    assert torch.equal(out["list"][1], x + 1) and isinstance(out["list"], list)
    assert torch.equal(out["point"].x, x) and out["point"].y == "same"
    assert out["name"] == "net" and out["none"] is None and out["flag"] is True
    assert out["size"] == [2, 2, 2, 1]
    assert out["words"] == [["0", "1"], ["2", "3"], ["4", "5"], ["6"]]


def test_a_loss_from_the_module_trains(virtual_gpus):
    torch.manual_seed(0)

    class Loss(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 1)

        def forward(self, x, y):
            return ((self.fc(x) - y) ** 2).sum()

    net = nn.DataParallel(Loss()).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x, y = torch.randn(16, 3), torch.randn(16, 1)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = net(x, y).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)


class Failing(nn.Module):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def forward(self, x):
        if x.device.index == 2:
            raise self.error
        return x


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)
        self.two = two

    def __str__(self):
        return f"odd {self.two}"


@pytest.mark.parametrize(
    "error", [ValueError("bad"), KeyError("k"), IndexError(3), Odd(1, 2), ZeroDivisionError()]
)
def test_an_exception_keeps_its_type_and_names_the_replica(error, virtual_gpus):
    net = nn.DataParallel(Failing(error))
    with pytest.raises(type(error)) as caught:
        net(torch.ones(8))
    name = type(error).__name__
    if name == "Odd":
        assert caught.value.__notes__ == ["Caught Odd in replica 2 on device 2."]
        assert caught.value.two == 2
    else:
        text = f"Caught {name} in replica 2 on device 2.\nOriginal Traceback"
        assert str(caught.value).startswith(text)
    assert caught.value.__context__ is error and caught.value.__suppress_context__


def test_parameters_are_found_in_a_replica(virtual_gpus):
    seen = []

    class Look(nn.Linear):
        def forward(self, x):
            seen.append((next(self.parameters()).device, len(list(self.parameters()))))
            seen.append(sorted(dict(self.named_parameters())))
            assert self.weight is next(self.parameters())
            return super().forward(x)

    nn.DataParallel(Look(2, 1)).cuda()(torch.ones(4, 2))
    assert [str(d) for d, _ in seen[::2]] == [f"cuda:{i}" for i in range(4)]
    assert seen[1] == ["bias", "weight"]


def test_after_to_and_half_way_changes(virtual_gpus):
    net = nn.DataParallel(nn.Linear(3, 1)).cuda()
    x = torch.ones(5, 3)
    before = net(x)
    net.double()
    assert net(x.double()).dtype == torch.float64
    net.float()
    with torch.no_grad():
        net.module.weight.fill_(2)
        net.module.bias.zero_()
    assert net(x).flatten().tolist() == [6] * 5 != before.flatten().tolist()
    net.module.weight.data = torch.ones(1, 3, device="cuda")
    assert net(x).flatten().tolist() == [3] * 5
    net.module.weight = nn.Parameter(torch.zeros(1, 3, device="cuda"))
    assert net(x).flatten().tolist() == [0] * 5


def test_kept_values_are_copied_again_only_when_they_moved(virtual_gpus):
    net = nn.DataParallel(nn.Linear(1000, 100)).cuda()
    net(torch.ones(4, 1000)).sum().backward()
    allocations = lambda: cuda.memory_stats(1)["allocation.all.allocated"]  # noqa: E731
    with torch.no_grad():
        net(torch.ones(4, 1000))
        start = allocations()
        net(torch.ones(4, 1000))
        unchanged = allocations() - start
        net.module.weight.add_(1)
        start = allocations()
        net(torch.ones(4, 1000))
        assert allocations() - start == unchanged + 1


def test_what_a_replica_writes_does_not_stay(virtual_gpus):
    class Write(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count += x.size(0)
            return x + self.count

    net = nn.DataParallel(Write()).cuda()
    for step in (1, 2, 3):
        out = net(torch.zeros(8))
        first = 2 * step
        assert out.tolist() == [first] * 2 + [2 * (step - 1) + 2] * 6
        assert net.module.count.item() == first  # replica 0 shares the original's buffer


def test_batch_norm_keeps_the_statistics_of_replica_0(virtual_gpus):
    torch.manual_seed(0)
    net = nn.DataParallel(nn.BatchNorm1d(3)).cuda()
    alone = nn.BatchNorm1d(3)
    x = torch.randn(16, 3)
    net(x)
    alone(x[:4])
    assert torch.allclose(net.module.running_mean.cpu(), alone.running_mean)
    assert torch.allclose(net.module.running_var.cpu(), alone.running_var)
    assert net.module.num_batches_tracked.item() == 1


def test_frozen_and_shared_parameters(virtual_gpus):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 3)
            self.b = nn.Linear(3, 3)
            self.b.weight = self.a.weight
            self.b.bias.requires_grad_(False)
            self.same = self.a

        def forward(self, x):
            assert self.a.weight is self.b.weight and self.same is self.a
            return self.b(self.a(x))

    torch.manual_seed(0)
    single = Tied()
    net = nn.DataParallel(copy.deepcopy(single)).cuda()
    x = torch.randn(6, 3)
    single(x).sum().backward()
    net(x).sum().backward()
    assert torch.allclose(net.module.a.weight.grad.cpu(), single.a.weight.grad, atol=1e-6)
    assert net.module.b.bias.grad is None


def test_double_backward(virtual_gpus):
    torch.manual_seed(0)
    net = nn.DataParallel(nn.Linear(3, 1)).cuda()
    x = torch.randn(5, 3, device="cuda", requires_grad=True)
    (g,) = torch.autograd.grad((net(x) ** 2).sum(), x, create_graph=True)
    g.pow(2).sum().backward()
    w = net.module.weight
    out = x.detach() @ w.detach().t() + net.module.bias.detach()
    expected = (8 * (out**2) * w.detach() + 8 * out * w.detach().pow(2).sum() * x.detach()).sum(0)
    assert torch.allclose(w.grad, expected.reshape(1, 3), atol=1e-4)


def test_scatter_and_gather_are_inverse(virtual_gpus):
    x = torch.randn(7, 3, requires_grad=True)
    parts = scatter(x, ["cuda:3", 1, torch.device("cuda", 2)])
    assert [str(p.device) for p in parts] == ["cuda:3", "cuda:1", "cuda:2"]
    back = gather(parts, "cpu")
    assert torch.equal(back, x) and back.device.type == "cpu"
    (back * 2).sum().backward()
    assert torch.equal(x.grad, torch.full((7, 3), 2.0))
    vector = gather([torch.tensor(1.0).cuda(), torch.tensor(2.0).cuda(1)], 1)
    assert vector.tolist() == [1, 2] and str(vector.device) == "cuda:1"
    with pytest.raises(ValueError, match="All dicts must have the same number of keys"):
        gather([{"a": 1}, {"b": 1}], 0)
    with pytest.raises(IndexError, match="Dimension out of range"):
        scatter(torch.ones(2), [0, 1], dim=1)


def test_functions(virtual_gpus):
    net = nn.Linear(3, 2).cuda()
    x = torch.randn(5, 3)
    assert torch.allclose(data_parallel(net, x, [0, 1]), net(x.cuda()))
    assert torch.allclose(data_parallel(net, (), module_kwargs={"input": x}), net(x.cuda()))
    replicas = replicate(net, [0, 2])
    outs = parallel_apply(replicas, [(x.cuda(),), (x.cuda(2),)])
    assert [str(o.device) for o in outs] == ["cuda:0", "cuda:2"]
    cut = replicate(net, [0, 1], detach=True)
    assert not any(p.requires_grad for r in cut for p in r.parameters())
    with pytest.raises(AssertionError, match="not equal to the number of inputs"):
        parallel_apply(replicas, [(x,)])


def test_unequal_gpus_are_warned_of():
    words = "There is an imbalance between your GPUs. You may want to exclude GPU 1 which has less"
    with cuda.virtual(2, ["v100", "gtx1050"]), pytest.warns(UserWarning, match=words):
        nn.DataParallel(nn.Linear(1, 1))
    with cuda.virtual(2), warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.DataParallel(nn.Linear(1, 1))
    with cuda.virtual(1), pytest.raises(RuntimeError, match="device_ids is empty"):
        nn.DataParallel(nn.Linear(1, 1), device_ids=[])


def test_other_devices_than_when_it_was_made():
    with cuda.virtual(4):
        net = nn.DataParallel(nn.Linear(2, 1)).cuda()
        net(torch.ones(4, 2))
    with cuda.virtual(2), pytest.raises(RuntimeError):
        net(torch.ones(4, 2))


def test_one_gpu_still_goes_through_a_scatter_of_ones_own():
    class Halved(nn.DataParallel):
        def scatter(self, inputs, kwargs, device_ids):
            inputs, kwargs = super().scatter(inputs, kwargs, device_ids)
            return [tuple(x / 2 for x in part) for part in inputs], kwargs

    with torch.cuda.virtual(1):
        module = nn.Identity()
        x = torch.ones(3, device="cuda:0")
        assert nn.DataParallel(module, [0])(x) is x
        assert Halved(module, [0])(x).tolist() == [0.5] * 3
        assert nn.DataParallel(module, [0])(x.cpu()).device.type == "cuda"


def test_one_gpu_notices_what_lies_elsewhere():
    with torch.cuda.virtual(1):
        net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).cuda()
        wrapped = nn.DataParallel(net, [0])
        x = torch.ones(3, 2, device="cuda")
        wrapped(x)
        net[1].running_mean = net[1].running_mean.cpu()
        with pytest.raises(RuntimeError, match=r"1\.running_mean is on cpu"):
            wrapped(x)
        net[1].running_mean = None  # no buffer, and nothing to move
        net[1].track_running_stats = False
        net[1].running_var = None
        wrapped(x)


def test_the_quick_look_at_modules_ends():
    lies_on, home = torch._C._lies_on, torch.device("cpu")
    outer, inner = nn.Module(), nn.Linear(2, 2)
    assert lies_on(inner, home)
    outer.inner, inner.outer = inner, outer  # then Python looks, as torch does
    assert not lies_on(outer, home)
    assert not lies_on(3, home) and not lies_on(object(), home)
    deep = nn.Identity()
    for _ in range(50):
        deep = nn.Sequential(deep, deep)  # 2 ** 50 ways down
    assert not lies_on(deep, home)
