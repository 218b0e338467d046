"""fully_shard between real processes: torch's losses and weights, one process's, and the memory."""

import functools
from dataclasses import replace
from importlib import import_module

import pytest

import rushlight
import rushlight.distributed as dist
from rushlight.distributed.fsdp import fully_shard
from rushlight.distributed.tensor import DTensor, Shard, distribute_tensor
from tests.conftest import ask
from tests.distributed.worlds import library, run

pytestmark = pytest.mark.gloo


def net(torch):
    """Shared weights, a frozen layer, sizes that no number of ranks divides."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.norm = nn.LayerNorm(d)
            self.a, self.b = nn.Linear(d, 2 * d + 1), nn.Linear(2 * d + 1, d, bias=False)

        def forward(self, x, scale=1.0):
            return x + self.b(self.a(self.norm(x)).relu()) * scale

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(11, 6)
            self.blocks = nn.ModuleList([Block(6) for _ in range(3)])
            self.head = nn.Linear(6, 11, bias=False)
            self.head.weight = self.embedding.weight
            self.frozen = nn.Linear(6, 6).requires_grad_(False)
            self.checkpoints = False

        def forward(self, x):
            x = self.embedding(x)
            for each in [*self.blocks, self.blocks[0]]:
                if self.checkpoints:
                    again = torch.utils.checkpoint.checkpoint
                    x = again(each, x, scale=0.5, use_reentrant=False)
                else:
                    x = each(x, scale=0.5)
            return self.head(self.frozen(x))

    torch.manual_seed(0)
    return Net()


def shard(torch, model, mesh=None, checkpoints=False, half=False, on_dim_1=False, prefetch=False,
          reshard=True, **_):  # fmt: skip
    fsdp = import_module(f"{torch.__name__}.distributed.fsdp")
    tensor = import_module(f"{torch.__name__}.distributed.tensor")
    options = {}
    if mesh is not None:
        init = import_module(f"{torch.__name__}.distributed.device_mesh").init_device_mesh
        names = ("replicas", "shards")[-len(mesh) :]
        options["mesh"] = init("cpu", mesh, mesh_dim_names=names)
    if half:
        options["mp_policy"] = fsdp.MixedPrecisionPolicy(
            param_dtype=torch.bfloat16, reduce_dtype=torch.float32
        )
    if on_dim_1:
        options["shard_placement_fn"] = lambda p: tensor.Shard(1) if p.shape[-1] == 6 and p.dim() == 2 else None  # fmt: skip # noqa: E501
    model.checkpoints = checkpoints
    for each in model.blocks:
        fsdp.fully_shard(each, reshard_after_forward=reshard, **options)
    if half:
        options["mp_policy"] = replace(options["mp_policy"], output_dtype=torch.float32)
    fsdp.fully_shard(model, **options)
    if prefetch:
        model.set_modules_to_forward_prefetch([model.blocks[0]])
        model.blocks[1].set_modules_to_backward_prefetch([model.blocks[0]])
    return model


def train(rank, size, kind="Adam", clip=False, accumulate=False, alone=False, factor=None, **how):
    """Losses, norms of gradients and sums of weights; of the whole batch in one process `alone`."""
    torch = library()
    model = net(torch)
    if not alone:
        shard(torch, model, **how)
        if factor:
            for each in [model, *model.blocks]:
                each.set_gradient_divide_factor(factor)
    rate = {"lr": 0.05, **({"momentum": 0.9} if kind == "SGD" else {})}
    optimizer = getattr(torch.optim, kind)(model.parameters(), **rate)
    torch.manual_seed(1)
    found = []
    for _ in range(3):
        x, y = torch.randint(0, 11, (12, 4)), torch.randint(0, 11, (12, 4))
        share = slice(None) if alone else slice(12 // size * rank, 12 // size * (rank + 1))
        losses = []
        for last in [False, True] if accumulate else [True]:
            if accumulate and not alone:
                model.set_requires_gradient_sync(last)
            out = model(x[share] if last else (x[share] + 1) % 11)
            loss = torch.nn.functional.cross_entropy(out.reshape(-1, 11), y[share].reshape(-1))
            loss.backward()
            losses.append(loss.detach().float())
        if clip:
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            found.append(norm.full_tensor().item() if hasattr(norm, "full_tensor") else norm.item())
        optimizer.step()
        optimizer.zero_grad(set_to_none=not clip)
        mean = torch.stack(losses).mean()
        if not alone:
            torch.distributed.all_reduce(mean)
            mean /= size
        found.append(mean.item())
        with torch.no_grad():
            found.append(model(x[:2]).float().square().mean().item())
    entries = model.state_dict().items()
    whole = [(k, v.full_tensor() if hasattr(v, "full_tensor") else v) for k, v in entries]
    # As floats: torch's recorded answers are compared as closely as their type is precise.
    found += [v.double().square().sum().float().item() for _, v in whole]
    own = [p.to_local().numel() if not alone else p.numel() for p in model.parameters()]
    return found, [k for k, _ in whole], own


WAYS = [
    {"clip": True},
    {"kind": "SGD", "reshard": False, "clip": True},
    {"accumulate": True, "prefetch": True},
    {"checkpoints": True, "kind": "AdamW"},
    {"kind": "RMSprop"},
    {"half": True, "kind": "SGD"},
]


def trainings(rank, size, ways=WAYS):
    library().set_num_threads(1)  # or torch's last digits depend on the machine
    return [train(rank, size, **way) for way in ways]


def check(ours, theirs, tolerance=1e-5):
    for mine, other in zip(ours, theirs, strict=True):
        assert mine[0] == pytest.approx(other[0], rel=tolerance, abs=tolerance)
        assert [list(x) for x in mine[1:]] == [list(x) for x in other[1:]]


def test_losses_and_weights_are_those_of_torch(reference):
    expected = ask(lambda torch: run(trainings, 2, torch=True))
    for mine, theirs in zip(run(trainings, 2), expected, strict=True):
        check(mine[:-1], theirs[:-1])
        check(mine[-1:], theirs[-1:], 5e-2)  # bfloat16


def test_losses_and_weights_are_those_of_one_process():
    ways = [
        {"clip": True, "factor": 3.0},
        {"accumulate": True},
        {"checkpoints": True, "mesh": (3,)},
    ]
    plain = [train(0, 1, alone=True, **way) for way in ways]
    for found in run(functools.partial(trainings, ways=ways), 3):
        for mine, alone in zip(found, plain, strict=True):
            assert mine[0] == pytest.approx(alone[0], rel=1e-5, abs=1e-5)
            assert mine[1] == alone[1]


def four(rank, size):
    found = trainings(rank, size, [{"mesh": (2, 2), "clip": True}, {"clip": True}])
    pairs = trainings(rank, size, [{"mesh": (2, 2), "on_dim_1": True, "kind": "SGD"}])
    return [*found, *pairs]


def test_replicas_of_shards():
    plain = train(0, 1, alone=True, clip=True)
    sgd = train(0, 1, alone=True, kind="SGD")
    for found in run(four, 4):
        for mine, alone in zip(found, [plain, plain, sgd], strict=True):
            assert mine[0] == pytest.approx(alone[0], rel=1e-5, abs=1e-5)
        assert found[0][2] != found[1][2]  # halves, quarters


def memory(rank, size):
    torch = rushlight
    nn = torch.nn
    torch.cuda.virtual(size)
    torch.cuda.set_device(rank)
    mesh = dist.init_device_mesh("cuda", (size,))
    layers = [nn.Linear(256, 256, bias=False, device="cuda") for _ in range(4)]
    model = nn.Sequential(*layers)
    one = layers[0].weight.nbytes
    for each in layers:
        fully_shard(each, mesh=mesh)
    fully_shard(model, mesh=mesh)
    del layers, each
    found = [torch.cuda.memory_allocated() / one]
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.randn(2, 256, device="cuda")
    for _ in range(2):
        torch.cuda.reset_peak_memory_stats()
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    found += [torch.cuda.memory_allocated() / one, torch.cuda.max_memory_allocated() / one]
    state = [optimizer.state[p]["exp_avg"] for p in model.parameters()]
    found.append(sum(s.to_local().nbytes for s in state) / one)
    return [*found, str(model[0].weight.device), str(state[0].placements)]


def test_a_rank_holds_its_share_between_steps():
    for rank, found in enumerate(run(memory, 2)):
        shards, between, peak, moments, device, placements = found
        assert shards == pytest.approx(2, rel=0.02)  # of 4 weights over 2 ranks
        assert between == pytest.approx(6, rel=0.05)  # and Adam's two moments
        assert moments == 2 and placements == "(Shard(dim=0),)" and device == f"cuda:{rank}"
        assert peak < 14  # shards and state 6, gradients 2, at most two layers whole and sent


def everyday(rank, size):
    torch, nn = rushlight, rushlight.nn
    found = {}
    model = shard(torch, net(torch))
    weight = model.blocks[0].a.weight
    found["types"] = (
        isinstance(weight, DTensor), isinstance(weight, nn.Parameter), type(model).__name__,
        isinstance(model, net(torch).__class__) or type(model).__mro__[2].__name__,
        isinstance(model, dist.fsdp.FSDPModule), tuple(weight.shape), list(weight.to_local().shape),
        weight.numel(), str(weight.dtype), weight.requires_grad, model.frozen.weight.requires_grad,
        model.head.weight is model.embedding.weight,
    )  # fmt: skip
    handle = model.blocks[0].unshard(async_op=True)
    handle.wait()
    found["whole"] = type(model.blocks[0].a.weight).__name__
    model.blocks[0].reshard()
    found["back"] = model.blocks[0].a.weight is weight
    with torch.no_grad():
        model(torch.zeros(1, 2, dtype=torch.int64))
    found["after eval"] = all(isinstance(p, DTensor) for p in model.parameters())
    for name, call in {
        "twice": lambda: fully_shard(model),
        "list": lambda: fully_shard(nn.ModuleList()),
        "mesh": lambda: fully_shard(nn.Linear(2, 2), mesh=3),
        "number": lambda: fully_shard(nn.Linear(2, 2), reshard_after_forward=2),
        "copy": lambda: __import__("copy").deepcopy(model),
        "sum": lambda: weight.sum(0),
        "cat": lambda: torch.cat([weight, weight]),
        "zeros_like": lambda: torch.zeros_like(weight),
        "in place": lambda: torch.relu_(weight.detach()),
        "masked": lambda: weight.detach().masked_fill_(True, 0.0),
        "mixed": lambda: weight.detach().copy_(torch.zeros(weight.shape)),
        "whole file": lambda: model.load_state_dict(net(torch).state_dict()),
        "pickle": lambda: torch.save(model.state_dict(), "/dev/null"),
        "item": lambda: weight.item(),
        "prefetch": lambda: model.set_modules_to_forward_prefetch([nn.ReLU()]),
        "dtypes": lambda: fully_shard(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).half())),
    }.items():
        try:
            call()
            found[name] = "no error"
        except (RuntimeError, ValueError, AssertionError, NotImplementedError) as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def test_everyday_use_and_words():
    for rank, found in enumerate(run(everyday)):
        assert found["types"] == (
            True, True, "FSDPNet", "Net", True, (13, 6), [7 - rank, 6], 78, "rushlight.float32",
            True, False, True,
        ) or found["types"][8] == "torch.float32"  # fmt: skip
        assert found["whole"] == "Parameter" and found["back"] and found["after eval"]
        assert found["twice"].startswith("ValueError: fully_shard has already been applied")
        assert "do not implement forward: ModuleList" in found["list"]
        assert "1D or 2D DeviceMesh but got 3" in found["mesh"]
        assert found["number"].startswith("NotImplementedError")
        assert "does not support deepcopy" in found["copy"]
        for name in ("sum", "cat", "zeros_like", "in place", "masked", "item"):
            assert found[name].startswith("NotImplementedError: DTensor"), (name, found[name])
            assert ".full_tensor()" in found[name]
        assert "got mixed torch.Tensor and DTensor" in found["mixed"]
        assert "set_model_state_dict()" in found["whole file"]
        assert "distributed.checkpoint" in found["pickle"]
        assert "uniform original parameter dtype" in found["dtypes"]
        assert found["prefetch"].startswith("ValueError")


class Branches(rushlight.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = rushlight.nn.Linear(3, 3), rushlight.nn.Linear(3, 3)

    def forward(self, x, both):
        return self.a(x) + (self.b(x) if both else 0)


def differing(rank, size):
    model = fully_shard(Branches())
    try:
        model(rushlight.ones(2, 3), rank == 0).sum().backward()
    except dist.DistBackendError as error:
        return str(error)
    return "no error"


def test_ranks_that_use_other_parameters_are_told():
    one, other = run(differing)
    assert "a.weight, a.bias, b.weight, b.bias: all ranks must use the same" in one
    assert "reduces the gradients of a.weight, a.bias: all ranks" in other


def more(rank, size):
    """Meta device, ignored parameters, groups of modules, other methods, hooks, two forwards."""
    torch, nn = rushlight, rushlight.nn
    fsdp, found = dist.fsdp, {}
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))
    fully_shard([model[0], model[2]])
    fully_shard(model)
    try:
        model(torch.ones(2, 3))
    except RuntimeError as error:
        found["meta"] = str(error)
    model.to_empty(device="cpu")
    torch.manual_seed(0)
    for each in (model[0], model[2]):
        each.reset_parameters()
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))
    for each in (plain[0], plain[2]):
        each.reset_parameters()
    x = torch.arange(6.0).view(2, 3)
    torch.manual_seed(0)
    for each in (plain[0], plain[2]):
        each.reset_parameters()
    model(x).sum().backward()
    plain(x).sum().backward()
    found["initialized"] = all(
        torch.equal(a.grad.full_tensor(), b.grad)
        for a, b in zip(model.parameters(), plain.parameters(), strict=True)
    )
    called = []
    model[0].weight.register_post_accumulate_grad_hook(lambda p: called.append(p.grad is not None))
    for each in (model, plain):
        (each(x).sum() + each(each(x)).square().sum()).backward()  # three forwards, one backward
    found["forwards"] = all(
        torch.allclose(a.grad.full_tensor(), b.grad, rtol=1e-5)
        for a, b in zip(model.parameters(), plain.parameters(), strict=True)
    )
    found["hook"] = called
    layer = nn.Linear(2, 2)
    fully_shard(layer, ignored_params={layer.bias})
    found["ignored"] = [isinstance(layer.weight, DTensor), isinstance(layer.bias, DTensor)]

    class Coder(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.full((3, 2), 2.0))

        def forward(self, x):
            return x @ self.weight

        def decode(self, x):
            return x @ self.weight.t()

    coder = fully_shard(Coder(), offload_policy=fsdp.CPUOffloadPolicy())
    fsdp.register_fsdp_forward_method(coder, "decode")
    coder.decode(torch.ones(1, 2)).sum().backward()
    found["decode"] = coder.weight.grad.full_tensor().tolist()
    state = coder.state_dict()
    state["weight"] = distribute_tensor(torch.zeros(3, 2), state["weight"].device_mesh, [Shard(0)])
    coder.load_state_dict(state, assign=True)
    found["assigned"] = coder(torch.ones(1, 3)).tolist()
    return found


def test_further_ways():
    for found in run(more):
        assert "to_empty" in found["meta"]
        assert found["initialized"] and found["forwards"] and found["hook"]
        assert found["ignored"] == [True, False]
        assert found["decode"] == [[1.0, 1.0]] * 3 and found["assigned"] == [[0.0, 0.0]]
