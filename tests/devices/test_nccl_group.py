"""backend="nccl" with NCCL itself, between two processes. On the emulated provider
tests/emulator/libraries/nccl_group.cpp stands in, and compares what the ranks are asked for.
"""

import os
import signal
import time
from datetime import timedelta

import pytest

import rushlight as torch
import rushlight.distributed as dist
from tests.distributed.test_collectives import LACKS, reductions, shapes
from tests.distributed.test_nccl import words
from tests.distributed.worlds import run

pytestmark = [
    pytest.mark.provider,
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="a GPU for each of two ranks"),
]
LAZY = pytest.mark.skipif(
    "RUSHLIGHT_EMULATED_LAZY" not in os.environ, reason="streams do at once what they are given"
)


def test_as_gloo():
    found = run(shapes, 2, backend="nccl"), run(reductions, 2, backend="nccl")
    if not dist.is_gloo_available():
        pytest.skip("needs Gloo: pip install --no-deps xoscar")
    assert found[0] == run(shapes, 2)
    for ours, theirs in zip(found[1], run(reductions, 2), strict=True):
        assert ours == {name: LACKS.get(name.split()[1], value) for name, value in theirs.items()}


def details(rank, size):
    found = []
    for dtype in (torch.bfloat16, torch.float16, torch.float64, torch.int8, torch.bool):
        x = torch.ones(5, dtype=dtype)
        dist.all_reduce(x)
        found.append(x.tolist())
    for op in (dist.ReduceOp.MIN, dist.ReduceOp.MAX, dist.ReduceOp.PRODUCT, dist.ReduceOp.AVG):
        dist.all_reduce(x := torch.tensor([2.0 + rank, -rank]), op)
        found.append(x.tolist())
    dist.all_to_all_single(x := torch.zeros(2), torch.tensor([1.0, 2.0]) + 10 * rank)
    found.append([each - rank for each in x.tolist()])
    for dtype in (torch.bfloat16, torch.int32):
        parts = torch.tensor([1, 2, 3, 4], dtype=dtype) * (rank + 1)
        dist.reduce_scatter_tensor(x := torch.empty(2, dtype=dtype), parts)
        found.append([each - 6 * rank for each in x.tolist()])
    dist.all_reduce(x := torch.arange(200_000.0) * (rank + 1))
    found.append(x[-1].item() == 199_999.0 * 3)
    # Ring: all send and receive at once.
    other = 1 - rank
    given, got = torch.full((70_000,), float(rank)), torch.zeros(70_000)
    operations = [dist.P2POp(dist.isend, given, other), dist.P2POp(dist.irecv, got, other)]
    for each in dist.batch_isend_irecv(operations):
        each.wait()
    found.append(got[-1].item())
    group = dist.new_group()  # whose first call is of two ranks alone
    if rank == 0:
        dist.send(torch.tensor([7.0]), 1, group)
    else:
        dist.recv(x := torch.zeros(1), 0, group)
        found.append(x.item())
    work = dist.all_reduce(x := torch.ones(3), async_op=True)
    x = x * 1  # of before or of after, but no error
    work.wait()
    torch.cuda.synchronize()
    found.append(work.is_completed())
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = torch.ones(1000) * (rank + 1)
        dist.all_reduce(y)  # after what this stream was given, and before what it is given now
        y += 1
    torch.cuda.current_stream().wait_stream(side)
    found.append(y.sum().item())
    dist.all_reduce(torch.empty(0))
    dist.barrier(device_ids=[rank])
    return found


def test_dtypes_messages_and_streams():
    two = [2.0] * 5
    joined = [[2.0, -1.0], [3.0, 0.0], [6.0, 0.0], [2.5, -0.5], [1.0, 11.0], [3, 6], [3, 6]]
    same = [two, two, two, [2] * 5, [True] * 5, *joined, True]
    zero, one = run(details, 2, backend="nccl")
    assert zero == [*same, 1.0, True, 4000.0]
    assert one == [*same, 0.0, 7.0, True, 4000.0]


def train(rank, size):
    torch.manual_seed(0)
    with torch.device("cpu"):
        plain = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        x = torch.randn(6, 4)
    model = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).cuda(),
        device_ids=[rank], bucket_cap_mb=0.0001,
    )  # fmt: skip
    model.module.load_state_dict(plain.state_dict())
    model(x[rank * 3 : rank * 3 + 3]).square().mean().backward()
    plain(x).square().mean().backward()
    return max(
        (ours.grad.cpu() - theirs.grad).abs().max().item()
        for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True)
    )


def test_gradients_are_those_of_the_whole_batch():
    assert max(run(train, 2, backend="nccl")) < 1e-5


def killed(rank, size):
    dist.all_reduce(torch.ones(2))
    torch.cuda.synchronize()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    said = words(lambda: (dist.all_reduce(torch.ones(2)), torch.cuda.synchronize()))
    again = words(lambda: dist.all_reduce(torch.ones(2)))
    return str(said), again


@pytest.mark.emulated
def test_a_killed_rank_is_an_error():
    said, again = run(killed, 2, expect=1, backend="nccl")[0]
    assert "DistBackendError" in again and "NCCL error: remote process exited" in said + again


def late(rank, size):
    group = dist.new_group(timeout=timedelta(seconds=1))
    dist.all_reduce(torch.ones(2), group=group)
    torch.cuda.synchronize()
    if rank == 1:
        time.sleep(5)
        return None
    dist.all_reduce(torch.ones(2), group=group)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        said = words(lambda: dist.get_rank(group))
        if said != 0:
            return said, torch.cuda.synchronize()
        time.sleep(0.05)
    return "nothing", None


@pytest.mark.emulated
@LAZY
def test_a_time_out_aborts_the_communicator():
    said, waited = run(late, 2, backend="nccl")[0]
    assert "DistBackendError: Timed out waiting 1000ms" in said and "broken" in said
    assert waited is None


def different(rank, size):
    dist.all_reduce(torch.ones(2))
    said = words(lambda: (dist.all_reduce(torch.ones(2 + rank)), torch.cuda.synchronize()))
    return str(said) + str(words(lambda: dist.all_reduce(torch.ones(2))))


@pytest.mark.emulated
def test_the_stand_in_finds_calls_that_differ():
    for said in run(different, 2, backend="nccl"):
        assert "DistBackendError" in said
