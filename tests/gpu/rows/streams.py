"""Streams, events, memory that several streams use, and more than one GPU."""

import rushlight as torch
from rushlight import nn
from tests.gpu import stress
from tests.gpu.rows import many, row
from tests.gpu.rows.libraries import version

RUNTIME = "kernels/cuda/runtime/"


@row("two streams and events", f"{RUNTIME}provider.cpp")
def _():
    n = many(1 << 24)
    home, side = torch.cuda.current_stream(), torch.cuda.Stream()
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    before.record()
    x = torch.ones(n, device="cuda")
    for _ in range(20):
        side.wait_stream(home)
        with torch.cuda.stream(side):
            y = x * 2
        home.wait_stream(side)
        x = y - 1
    after.record()
    after.synchronize()
    assert x.min().item() == x.max().item() == 1 and side.query() and after.query()
    milliseconds = before.elapsed_time(after)
    assert milliseconds >= 0
    return f"40 kernels in {milliseconds:.2f} ms"


@row("record_stream, two streams", f"{RUNTIME}memory.cpp")
def _():
    return stress.run(seed=1, rounds=20, threads=1)


@row("record_stream, four threads", f"{RUNTIME}memory.cpp")
def _():
    return stress.run(seed=2, rounds=5, threads=4)


def two_gpus():
    return torch.cuda.device_count() > 1


@row("two GPUs: copies", f"{RUNTIME}transfer.cpp")
def _():
    if not two_gpus():
        return "one GPU"
    x = torch.arange(float(many(1 << 22)), device="cuda:0")
    y = (x.to("cuda:1") * 2).to("cuda:0")
    assert torch.equal(y, x * 2)
    return f"peers: {torch.cuda.can_device_access_peer(0, 1)}"


GROUPS = "kernels/cuda/nvidia/nccl_group.cpp, csrc/distributed/nccl.cpp"


@row("NCCL: a group of one process", GROUPS)
def _():
    words, n = torch._C._distributed, many(1 << 20)
    group = words._Nccl(0, words._new_nccl_id(), 0, 1, 15.0)
    x = torch.arange(float(n), device="cuda")

    def call(name, given, result):
        return group.submit(name, given, result, n, 0, 0, 1, False)

    for name in "all_reduce reduce all_gather all_to_all broadcast gather scatter".split():
        result = torch.zeros_like(x)
        part = call(name, x, result)
        part.wait(0)
        assert torch.equal(result, x) and part.is_done() and not part.error(), name
    group.begin()
    call("send", x, None)
    part = call("receive", None, result.zero_())
    group.end()
    part.wait(0)
    assert torch.equal(result, x)
    group.close()
    return version("NCCL")


def of_rank(rank, size):
    dist = torch.distributed
    dist.all_reduce(x := torch.arange(1000.0) * (rank + 1))
    net = nn.parallel.DistributedDataParallel(nn.Linear(6, 3), device_ids=[rank])
    net(torch.ones(2, 6) * (rank + 1)).sum().backward()
    dist.barrier()
    return x.sum().item(), net.module.weight.grad.sum().item()


@row("two GPUs: two processes, NCCL and DistributedDataParallel", GROUPS)
def _():
    from tests.distributed.worlds import run

    if not two_gpus():
        return "one GPU"
    assert run(of_rank, 2, backend="nccl") == [(1498500.0, 54.0)] * 2
    return version("NCCL")


@row("two GPUs: DataParallel, NCCL", "kernels/cuda/nvidia/nccl.cpp, csrc/parallel/")
def _():
    if not two_gpus():
        return "one GPU"
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    x, there = torch.randn(9, 6), {}
    for device in ("cpu", "cuda:0"):
        net.zero_grad()
        net.to(device)
        replicas = nn.DataParallel(net, [0, 1]) if device == "cuda:0" else net
        loss = replicas(x.to(device)).square().mean()
        loss.backward()
        there[device] = [loss, *(p.grad.clone() for p in net.parameters())]
    for a, b in zip(there["cuda:0"], there["cpu"], strict=True):
        torch.testing.assert_close(a.detach().cpu(), b.detach(), rtol=1e-4, atol=1e-5)
    return version("NCCL")
