"""What torch.distributed has beside the collectives: messages from any rank, coalesced calls,
methods of a ProcessGroup, groups of groups, and collectives through which gradients flow."""

import time
from datetime import timedelta

import pytest

import rushlight
import rushlight.distributed as dist
from tests.conftest import ask
from tests.distributed.worlds import library, outcome, run

pytestmark = pytest.mark.gloo


def together(rank, size):
    """Coalesced calls, and the methods that libraries call."""
    torch = library()
    dist = torch.distributed
    manager = dist.distributed_c10d._coalescing_manager
    found = []
    xs = [torch.ones(2) * rank, torch.arange(3.0).view(3, 1)]
    dist.all_reduce_coalesced(xs)
    found.append([x.tolist() for x in xs])
    dist.all_reduce_coalesced(xs, op=dist.ReduceOp.MAX, async_op=True).wait()
    found.append([x.tolist() for x in xs])
    out = [[torch.zeros(2), torch.zeros(3, 1)] for _ in range(size)]
    dist.all_gather_coalesced(out, [xs[0] + rank, xs[1]])
    found.append([[x.tolist() for x in row] for row in out])
    with manager(async_ops=True) as works:
        given = [dist.all_reduce(x) for x in xs]
    works.wait()
    found += [given, [x.tolist() for x in xs]]
    with manager():
        dist.all_reduce(xs[0])
    found.append(xs[0].tolist())
    for wrong in (3, [], [torch.ones(2), torch.ones(2, dtype=torch.int64)]):
        found.append(outcome(lambda wrong=wrong: dist.all_reduce_coalesced(wrong)) != "nothing")

    group, x = dist.group.WORLD, torch.tensor([1.0 + rank, 2.0])
    found += [group.rank(), group.size(), dist.get_process_group_ranks(group)]
    found += [str(dist.get_backend()), dist.distributed_c10d._get_default_group() is group]
    group.allreduce([x]).wait()
    found.append(x.tolist())
    group.allreduce(x, dist.ReduceOp.MAX).wait()
    group.broadcast(y := x + rank, size - 1).wait()
    found.append(y.tolist())
    group.allgather([rows := [torch.zeros(2) for _ in range(size)]], [x + rank]).wait()
    found.append([r.tolist() for r in rows])
    group.reduce_scatter([y := torch.zeros(2)], [[x * i for i in range(size)]]).wait()
    found.append(y.tolist())
    group.alltoall_base(y := torch.zeros(size), torch.arange(float(size)) + rank, [], []).wait()
    found.append(y.tolist())
    group._allgather_base(y := torch.zeros(2 * size), x + rank).wait()
    found.append(y.tolist())
    works = [group.send([x * rank], (rank + 1) % size, 3)]
    works += [group.recv([y := torch.zeros(2)], (rank - 1) % size, 3)]
    for each in works:
        each.wait()
    found.append(y.tolist())
    group.barrier().wait()
    names = ["GLOO", "nccl", "smoke", 3]
    found.append([outcome(lambda n=n: str(dist.Backend(n))) for n in names])
    return repr(found)


def from_any(rank, size):
    """Each message once, whichever rank sends first; two tags apart."""
    torch = library()
    dist = torch.distributed
    y, found = torch.zeros(2), []
    if rank:
        for i in range(3):
            dist.send(torch.tensor([rank, float(i)]), 0, tag=5)
        dist.send(torch.tensor([rank, 9.0]), 0, tag=6)
    else:
        for _ in range(3 * (size - 1)):
            source = dist.recv(y, tag=5)
            found.append((source, source == y[0].item(), y[1].item()))
        found.sort()
        work = dist.irecv(y, tag=6)
        work.wait()
        found.append(y[1].item())
        while len(found) < 3 * (size - 1) + size - 1:
            dist.recv(y, tag=6)
            found.append(y[1].item())
    dist.barrier()
    return repr(found)


def gradients(rank, size):
    """Values and gradients of torch.distributed.nn.functional, and a second gradient."""
    torch = library()
    import importlib

    f = importlib.import_module(torch.__name__ + ".distributed.nn.functional")
    found = []
    weight = torch.arange(6.0).view(3, 2) + 1

    def check(call, *shape):
        x = (torch.arange(6.0).view(3, 2) + rank + 1).requires_grad_()
        results = call(x)
        results = results if isinstance(results, tuple | list) else [results]
        loss = sum((r * weight * (rank + 1 + i)).square().sum() for i, r in enumerate(results))
        (gradient,) = torch.autograd.grad(loss, x)
        found.append([[r.tolist() for r in results], gradient.tolist()])

    check(f.all_reduce)
    check(lambda x: f.broadcast(x, 1))
    check(lambda x: f.reduce(x, 0) * (rank == 0))  # elsewhere torch leaves anything
    check(lambda x: f.gather(x, 1))
    check(lambda x: f.scatter([x * (i + 1) for i in range(size)], 1))
    check(f.all_gather)
    check(lambda x: f.reduce_scatter(torch.zeros(3, 2), [x * (i + 2) for i in range(size)]))
    out = [torch.zeros(3, 2) for _ in range(size)]
    check(lambda x: f.all_to_all(out, [x * (i + 2) for i in range(size)]))
    check(lambda x: f.all_to_all_single(torch.zeros(3, 2), x))
    x = torch.ones(2, requires_grad=True)
    (first,) = torch.autograd.grad(f.all_reduce(x * x * x).sum(), x, create_graph=True)
    found.append(torch.autograd.grad(first.sum(), x)[0].tolist())
    return repr(found)


def everything(rank, size):
    return [together(rank, size), from_any(rank, size), gradients(rank, size)]


def test_as_torch(reference):
    expected = ask(lambda torch: run(everything, 3, torch=True))
    for own, torch_s in zip(run(everything, 3), expected, strict=True):
        for found, wanted in zip(own, torch_s, strict=True):
            assert found == wanted


def groups(rank, size):
    found = []
    part = dist.split_group(split_ranks=[[0, 2], [1]])
    x = rushlight.tensor([1.0 + rank])
    dist.all_reduce(x, group=part)
    found += [x.item(), dist.get_process_group_ranks(part)]
    assert dist.split_group(split_ranks=[[1, 2]]) is None or rank
    for wrong in ([], [[]], [[0, 1], [1, 2]], [[0, size]], None):
        try:
            dist.split_group(split_ranks=wrong)
        except ValueError:
            continue
        found.append(wrong)
    found.append(dist.get_backend_config())
    # No sender is left: an error, not a wait.
    y = rushlight.zeros(1)
    if rank == 0:
        dist.barrier()
        start = time.monotonic()
        for call in (lambda: dist.irecv(y).wait(timedelta(seconds=0.3)), lambda: dist.recv(y)):
            try:
                call()
            except dist.DistBackendError as error:
                found.append(str(error))
        assert time.monotonic() - start < 60
    else:
        dist.barrier()
        time.sleep(1.0)
    return found


def test_split_groups_and_nobody_left_to_receive_from():
    found = run(groups, 3)
    assert [f[:3] for f in found[1:]] == [
        [2.0, [1], "cpu:gloo,cuda:gloo"], [4.0, [0, 2], "cpu:gloo,cuda:gloo"]
    ]  # fmt: skip
    assert found[0][0] == 4.0
    timed_out, left = found[0][3:]
    assert "recv from any rank, tag 0, failed on rank 0: Timed out waiting 300ms" in timed_out
    assert "ranks [1, 2] have exited or left the group" in left


def absent(rank, size):
    if rank == 2:
        dist.barrier(dist.new_group())
        return None
    for every in (False, True):
        try:
            dist.monitored_barrier(timeout=timedelta(seconds=0.5), wait_all_ranks=every)
        except RuntimeError as error:
            words = str(error)
    dist.barrier(dist.new_group())
    return words


def test_monitored_barrier_names_who_is_missing():
    for rank, words in enumerate(run(absent, 3)[:2]):
        assert words == f"[Rank {rank}]: Rank 2 failed to pass monitoredBarrier in 500 ms"


def test_debug_level(monkeypatch):
    before = dist.get_debug_level()
    try:
        for name in ("INFO", "detail", "off"):
            monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", name)
            dist.set_debug_level_from_env()
            assert dist.get_debug_level() == dist.DebugLevel[name.upper()]
        monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "LOUD")
        with pytest.raises(RuntimeError, match="must be OFF, INFO, or DETAIL"):
            dist.set_debug_level_from_env()
    finally:
        dist.set_debug_level(before)


def test_the_name_of_operations_in_torch_1():
    with pytest.warns(FutureWarning, match="please use `torch.distributed.ReduceOp`"):
        assert dist.reduce_op.SUM is dist.ReduceOp.SUM
