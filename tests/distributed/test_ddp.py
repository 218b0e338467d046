"""DistributedDataParallel between real processes: torch's DDP's losses, and closed forms."""

import pytest

import rushlight
import rushlight.distributed as dist
from tests.conftest import ask
from tests.distributed.worlds import library, run

pytestmark = pytest.mark.gloo


def net(torch):
    nn = torch.nn
    with torch.device("cpu"):  # whose random numbers are the same everywhere
        torch.manual_seed(0)
        made = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    return made.to(torch.get_default_device())


def train(rank, size, **options):
    """Losses of some steps, each rank on its half of the batch; a checksum of the weights."""
    torch = library()
    DDP = torch.nn.parallel.DistributedDataParallel
    torch.manual_seed(rank)  # rank 0's weights win
    if torch.distributed.get_backend() == "nccl":
        options["device_ids"] = [rank]
    model = DDP(net(torch), bucket_cap_mb=0.0001, **options)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    torch.manual_seed(1)
    data = torch.randn(5, 8, 6, device="cpu").to(next(model.parameters()).device)
    found = []
    for step, x in enumerate(data):
        share = x[rank * 4 : rank * 4 + 4]
        if step == 2:
            with model.no_sync():
                model(share * 2).square().sum().backward()
        loss = model(share).square().sum()
        loss.backward()
        found.append(round(loss.item(), 4))
        optimizer.step()
        optimizer.zero_grad(set_to_none=step % 2 == 0)
    weights = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
    every = [torch.empty_like(weights) for _ in range(size)]
    torch.distributed.all_gather(every, weights)
    return [found, all(torch.equal(w, every[0]) for w in every), sorted(model.state_dict())]


def trainings(rank, size):
    return [
        train(rank, size),
        train(rank, size, gradient_as_bucket_view=True, broadcast_buffers=False),
        train(rank, size, find_unused_parameters=True),
    ]


def test_losses_are_those_of_torch(reference):
    expected = ask(lambda torch: run(trainings, 2, torch=True))
    found = run(trainings, 2) + run(trainings, 2, backend="nccl")
    for ours, theirs in zip(found, expected + expected, strict=True):
        for mine, other in zip(ours, theirs, strict=True):
            assert mine[0] == pytest.approx(other[0], rel=1e-4, abs=2e-4)
            assert mine[1:] == list(other[1:]) and mine[1]


class Branches(rushlight.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = rushlight.nn.Linear(2, 1), rushlight.nn.Linear(2, 1)
        self.c = rushlight.nn.Linear(2, 1)

    def forward(self, x, use_b):
        return self.a(x) + (self.b(x) if use_b else 0)


def details(rank, size):
    nn = rushlight.nn
    ddp = nn.parallel.DistributedDataParallel
    rushlight.manual_seed(0)
    found = []
    x = rushlight.tensor([[1.0, 2.0 + rank]])
    model = ddp(Branches(), find_unused_parameters=True)
    model.module.c.weight.grad = rushlight.full((1, 2), 7.0)
    model(x, rank == 0).sum().backward()
    m = model.module
    found.append([m.a.weight.grad.tolist(), m.b.weight.grad.tolist(), m.c.weight.grad.tolist()])
    model = ddp(Branches())
    model(x, True).sum().backward()
    for call in (
        lambda: model(x, True),
        lambda: ddp(nn.Linear(2 + rank, 1)),
        lambda: ddp(nn.ReLU()),
        lambda: ddp(nn.Linear(2, 1), device_ids=[0]),
    ):
        try:
            call()
        except (RuntimeError, ValueError) as error:
            found.append(str(error))
    sampler = rushlight.utils.data.DistributedSampler(range(10), shuffle=False)
    found.append(list(sampler))
    return found


def test_unused_parameters_and_words():
    for rank, found in enumerate(run(details)):
        gradients, unfinished, differ, none, ids, indices = found
        assert gradients == [[[1.0, 2.5]], [[0.5, 1.0]], [[7.0, 7.0]]]
        assert "c.weight, c.bias" in unfinished and "Expected to have finished" in unfinished
        assert "rank 0 has weight: float32[1, 2], rank 1 has weight: float32[1, 3]" in differ
        assert "not needed" in none and "device_ids" in ids
        assert indices == list(range(rank, 10, 2))


def test_one_process():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        model = rushlight.nn.parallel.DistributedDataParallel(rushlight.nn.Linear(3, 2))
        plain = rushlight.nn.Linear(3, 2)
        plain.load_state_dict({k.removeprefix("module."): v for k, v in model.state_dict().items()})
        x = rushlight.randn(4, 3)
        model(x).sum().backward()
        plain(x).sum().backward()
        assert model.module.weight.grad.equal(plain.weight.grad)
        for option in ("mixed_precision", "bucket_cap_mb_list", "param_to_hook_all_reduce"):
            with pytest.raises(NotImplementedError, match=option):
                rushlight.nn.parallel.DistributedDataParallel(plain, **{option: [1]})
        dist.all_gather_object(found := [None], "alone")
        assert found == ["alone"] and dist.get_rank() == 0 and dist.group.WORLD.size() == 1
        dist.barrier()
        dist.all_reduce(t := rushlight.tensor([2.0]), dist.ReduceOp.AVG)
        assert t.item() == 2.0
    finally:
        dist.destroy_process_group()
    with pytest.raises(ValueError, match="has not been initialized"):
        dist.get_rank()


def module_states(rank, size):
    from rushlight.distributed.utils import _sync_module_states

    model = rushlight.nn.BatchNorm1d(2)
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.detach().fill_(rank)
    _sync_module_states(model, dist.distributed_c10d._get_default_group(), 1 << 20, 1, {"bias"})
    return {name: tensor.float().mean().item() for name, tensor in model.state_dict().items()}


def test_states_of_a_module_are_those_of_one_rank():
    found = run(module_states, 2)
    assert found[0] == {**found[1], "bias": 0.0} and set(found[1].values()) == {1.0}
