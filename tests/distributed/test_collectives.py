"""Collectives between real processes, on Gloo: values and errors as torch's, or closed forms."""

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest

import rushlight
import rushlight.distributed as dist
from tests.conftest import ask
from tests.distributed.worlds import library, outcome, run

pytestmark = pytest.mark.gloo

LIMIT = 15  # seconds: what is an error at once is one before the time-out of 20, on any machine


def reductions(rank, size):
    """Every ReduceOp on every dtype; what is refused, by the error's type."""
    torch = library()
    dist = torch.distributed
    found = {}
    dtypes = "float32 float64 float16 bfloat16 int8 uint8 int32 int64 bool"
    for name in dtypes.split():
        for op in "SUM AVG PRODUCT MIN MAX BAND BOR BXOR".split():
            if op == "AVG" and "float" not in name:
                continue  # torch fails with a cast error
            if op == "BXOR" and name == "bool":
                continue
            x = (torch.arange(5) + rank + 1).to(getattr(torch, name))
            x = x > rank + 2 if name == "bool" else x

            def reduced(x=x, op=op):
                dist.all_reduce(x, getattr(dist.ReduceOp, op))
                return x.tolist()

            found[f"{name} {op}"] = outcome(reduced)
    return found


def shapes(rank, size):
    """Each collective once, with layouts, empty tensors and async_op."""
    torch = library()
    dist = torch.distributed
    found = []
    x = (torch.arange(6.0) + 10 * rank).view(2, 3)
    nccl = dist.get_backend() == "nccl"
    t = x if nccl else x.t().clone().t()  # not contiguous, which NCCL refuses
    t = t.clone() if nccl else t
    dist.all_reduce(t)
    found.append(t.tolist())
    work = dist.all_reduce(y := x.clone(), op=dist.ReduceOp.MAX, async_op=True)
    work.wait()
    found += [y.tolist(), work.is_completed(), work.is_success()]
    dist.broadcast(y := x.clone(), src=size - 1)
    found.append(y.tolist())
    dist.all_gather(every := [torch.empty(2, 3) for _ in range(size)], x)
    found.append([e.tolist() for e in every])
    dist.all_gather_into_tensor(out := torch.empty(2 * size, 3), x)
    found.append(out.tolist())
    dist.reduce(y := x.clone(), dst=1)
    found.append(y.tolist() if rank == 1 else None)
    dist.gather(x, every if rank == 0 else None, dst=0)
    found.append([e.tolist() for e in every] if rank == 0 else None)
    dist.scatter(y, [x + i for i in range(size)] if rank == 1 else None, src=1)
    found.append(y.tolist())
    dist.reduce_scatter(y, [x * (i + 1) for i in range(size)])
    found.append(y.tolist())
    dist.reduce_scatter_tensor(z := torch.empty(3), torch.arange(3.0 * size) * (rank + 1))
    found.append(z.tolist())
    dist.all_to_all_single(z := torch.empty(size), torch.arange(float(size)) + 10 * rank)
    found.append(z.tolist())
    # Rank r sends r + i rows to rank i.
    sizes = [[r + i for i in range(size)] for r in range(size)]
    given = torch.arange(2.0 * sum(sizes[rank])).view(-1, 2) + 100 * rank
    own = [sizes[r][rank] for r in range(size)]
    dist.all_to_all_single(z := torch.empty(sum(own), 2), given, own, sizes[rank])
    found.append(z.tolist())
    parts = [torch.empty(2) for _ in own]
    dist.all_to_all(parts, [torch.full((2,), float(rank + n)) for n in own])
    found.append([p.tolist() for p in parts])
    dist.all_reduce(e := torch.empty(0))
    found.append(e.tolist())
    dist.all_reduce(s := torch.tensor(2.0 + rank))
    found.append(s.item())
    # Messages that cross, and two with one tag, in their order.
    other = (rank + 1) % size
    before = (rank - 1) % size
    works = [dist.isend(torch.tensor([rank, i]), other, tag=7) for i in range(3)]
    got = [torch.zeros(2, dtype=torch.int64) for _ in range(3)]
    works += [dist.irecv(g, before, tag=7) for g in got]
    for each in works:
        each.wait()
    found.append([g.tolist() for g in got])
    if rank == 0:
        dist.send(x, 1)
    if rank == 1:
        found.append([dist.recv(y := torch.empty(2, 3), 0), y.tolist()])
    operations = [
        dist.P2POp(dist.irecv, g := torch.empty(3), before),
        dist.P2POp(dist.isend, torch.full((3,), float(rank)), other),
    ]
    for each in dist.batch_isend_irecv(operations):
        each.wait()
    found.append(g.tolist())
    # Objects.
    dist.all_gather_object(objects := [None] * size, {"rank": rank, "more": "x" * rank})
    found.append(objects)
    dist.broadcast_object_list(objects := [rank, "a" * rank, None], src=1)
    found.append(objects)
    dist.gather_object(("from", rank), objects := [None] * size if rank == 0 else None, dst=0)
    found.append(objects)
    dist.scatter_object_list(got := [None], [[i] * i for i in range(size)] if rank == 0 else None)
    found.append(got)
    # Groups.
    last = dist.new_group([size - 2, size - 1])
    if rank >= size - 2:
        dist.all_reduce(y := torch.tensor([1.0]), group=last)
        dist.broadcast(z := torch.tensor([float(rank)]), src=size - 1, group=last)
        found.append([y.item(), z.item(), dist.get_rank(last), dist.get_world_size(last)])
        found.append([dist.get_global_rank(last, 0), dist.get_process_group_ranks(last)])
    own, every = dist.new_subgroups(1)
    dist.all_reduce(y := torch.tensor([3.0 + rank]), group=own)
    found.append([y.item(), len(every)])
    dist.barrier()
    if not nccl:
        dist.monitored_barrier(timeout=timedelta(seconds=20))
    found.append([dist.get_rank(), dist.get_world_size()])
    found += misuse(torch, dist, rank, size)
    return repr(found)


def misuse(torch, dist, rank, size):
    """The types of errors, which are raised before anything is sent."""
    x = torch.zeros(3)
    calls = [
        lambda: dist.all_reduce([1.0]),
        lambda: dist.all_reduce(x, group="g"),
        lambda: dist.broadcast(x, src=size),
        lambda: dist.broadcast(x, src=-1),
        lambda: dist.broadcast(x),
        lambda: dist.all_gather([x], [x]),
        lambda: dist.all_gather("x", x),
        lambda: dist.send(x, rank),
        lambda: dist.gather(x, [x] * size if rank else None, dst=0),
        lambda: dist.reduce_scatter(x, x),
        lambda: dist.init_process_group("gloo"),
        lambda: dist.P2POp(dist.all_reduce, x, 0),
        lambda: dist.batch_isend_irecv([]),
    ]
    return [outcome(call) for call in calls]


LACKS = {"BAND": "ValueError", "BOR": "ValueError", "BXOR": "ValueError"}  # what NCCL answers


@pytest.mark.parametrize("function, size", [(reductions, 2), (shapes, 3)])
def test_as_torch(function, size, reference):
    expected = ask(lambda torch: run(function, size, torch=True))
    assert run(function, size) == expected
    if function is reductions:
        expected = [
            {name: LACKS.get(name.split()[1], value) for name, value in each.items()}
            for each in expected
        ]
    assert run(function, size, backend="nccl") == expected


def same_bits(rank, size):
    import zlib

    rushlight.manual_seed(rank)
    found = []
    for n in (1, 1000, 300_001):  # beyond a megabyte the engine adds in another order
        x = rushlight.randn(n)
        dist.all_reduce(x)
        found.append(zlib.crc32(x.numpy().tobytes()))
    y = rushlight.full((4,), 1.0 + rank, dtype=rushlight.int16)
    dist.all_reduce(y, dist.ReduceOp.BXOR)
    found.append(y.tolist())
    return found


def accidents(rank, size):
    """The errors on the other ranks: which rank differs, which is missing."""
    words = []
    x = rushlight.ones(2)
    wrong = [  # torch ends the process, waits, or answers nonsense
        lambda: dist.send(x, dst=99),
        lambda: dist.recv(x, src=-5),
        lambda: dist.send(x, dst=2**40),
        lambda: dist.new_group([size]),
        lambda: dist.new_group([0, 0]),
        lambda: dist.get_global_rank(dist.group.WORLD, size),
        lambda: dist.get_group_rank(dist.group.WORLD, size),
        lambda: dist.all_reduce(x, dist.ReduceOp.AVG + 40),
        lambda: dist.all_reduce(rushlight.ones(2, dtype=rushlight.int64), dist.ReduceOp.AVG),
        lambda: dist.all_reduce(rushlight.empty(2, device="meta")),
        lambda: dist.all_to_all_single(rushlight.ones(3), rushlight.ones(3)),
        lambda: dist.init_process_group("smoke"),
    ]
    for call in wrong:
        assert outcome(call) in ("ValueError", "RuntimeError", "NotImplementedError"), call

    def failing(call):
        start = time.monotonic()
        try:
            call()
        except dist.DistBackendError as error:
            words.append((str(error), time.monotonic() - start))
        else:
            words.append(("nothing", 0.0))

    x = rushlight.ones(4 + rank)
    failing(lambda: dist.all_reduce(x))
    failing(lambda: dist.all_reduce(x))  # broken for good
    return words


def killed(rank, size):
    dist.all_reduce(rushlight.ones(2))
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    start = time.monotonic()
    try:
        dist.all_reduce(rushlight.ones(2))
    except dist.DistBackendError as error:
        return str(error), time.monotonic() - start


def late(rank, size):
    dist.barrier()
    group = dist.new_group(timeout=timedelta(seconds=1.5))
    text = ""
    if rank == 0:
        try:
            dist.all_reduce(rushlight.ones(2), group=group)
        except dist.DistBackendError as error:
            text = str(error)
    dist.barrier()  # rank 1 is here all the time, in another group's call
    return text


def interrupted(rank, size):
    store = dist.distributed_c10d._get_default_store()
    if rank == 0:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            dist.all_reduce(rushlight.ones(2))
        store.set("interrupted", "yes")
    store.wait(["interrupted"])  # so that nothing but the signal ends the wait of rank 0
    pid = os.fork()
    if not pid:
        try:
            dist.all_reduce(rushlight.ones(2))
        except RuntimeError as error:
            os._exit(0 if "belongs to process" in str(error) else 1)
        os._exit(2)
    code = os.waitpid(pid, 0)[1]
    if rank == 1:
        dist.all_reduce(rushlight.ones(2))
    dist.barrier()
    return code


def test_all_ranks_have_the_same_bits():
    found = run(same_bits, 3)
    assert found[0] == found[1] == found[2] and found[0][-1] == [1 ^ 2 ^ 3] * 4


def test_sizes_that_differ_are_named():
    for rank, words in enumerate(run(accidents)):
        text, seconds = words[0]
        assert f"all_reduce #1 (float32[{4 + rank}], SUM) failed on rank {rank}" in text
        assert f"rank {1 - rank} is in all_reduce #1 (float32[{5 - rank}], SUM)" in text
        assert seconds < LIMIT and "broken" in words[1][0]


def test_a_killed_rank_is_an_error_long_before_the_time_out():
    for found in run(killed, 3, expect=2)[::2]:
        text, seconds = found
        assert "rank 1 has exited" in text and seconds < LIMIT


def test_a_late_rank_is_named():
    text = run(late)[0]
    assert "Timed out waiting 1500ms" in text and "rank 1 has not come to it" in text


def test_ctrl_c_and_fork():
    assert run(interrupted) == [0, 0]


def missing(rank, size, port):
    if rank == 2:
        return None
    start = time.monotonic()
    try:
        dist.init_process_group(
            "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank + 1, world_size=size + 1,
            timeout=timedelta(seconds=1),
        )  # fmt: skip
    except dist.DistStoreError as error:
        return str(error), time.monotonic() - start


def test_a_rank_that_is_missing_at_start_is_named():
    for text, seconds in run(missing, 3, bare=True)[:2]:
        assert "still waits for ranks [0, 3] of 4" in text and seconds < LIMIT


SCRIPT = """
import sys
import rushlight as torch, rushlight.distributed as dist
for again in range(2):
    dist.init_process_group(sys.argv[1] if len(sys.argv) > 1 else None)
    x = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(x)
    if again:
        print(x.item(), flush=True)
        break
    dist.destroy_process_group()
"""


def script(rank, size, port, *arguments):
    folder = os.path.dirname(os.path.dirname(rushlight.__file__))
    env = {
        **os.environ, "PYTHONPATH": folder, "RANK": str(rank), "WORLD_SIZE": str(size),
        "MASTER_ADDR": "localhost", "MASTER_PORT": str(port),
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT, *arguments], env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def free_port():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def test_env_twice_and_no_destroy_at_the_end():
    port = free_port()
    processes = [script(r, 2, port, "gloo") for r in (1, 0)]
    for each in processes:
        out, err = each.communicate(timeout=60)
        assert (out, err, each.returncode) == ("3.0\n", "", 0)


def test_without_xoscar():
    env_path = "import sys\nsys.modules['xoscar'] = None\n"
    program = env_path + SCRIPT
    port = free_port()
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(rushlight.__file__))}
    env |= {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    process = subprocess.run(
        [sys.executable, "-c", program], env=env, text=True, capture_output=True, timeout=60
    )
    assert process.returncode == 1 and "pip install --no-deps xoscar" in process.stderr
