"""backend="nccl" on virtual GPUs: NCCL's rules in torch's words. (Values: test_collectives.py.)"""

import functools

import pytest

import rushlight as torch
import rushlight.distributed as dist
import rushlight.distributed.checkpoint as checkpoint
from tests.distributed import test_ddp_hooks, test_fsdp, test_surface
from tests.distributed.worlds import run

pytestmark = pytest.mark.gloo


def words(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def rules(rank, size):
    own = torch.ones(2, 3)
    other = torch.device("cuda", 1 - rank)
    found = {
        "cpu": lambda: dist.all_reduce(torch.ones(2, device="cpu")),
        "strides": lambda: dist.all_reduce(own.t()),
        "bits": lambda: dist.all_reduce(own, dist.ReduceOp.BOR),
        "boolean": lambda: dist.all_reduce(own > 0, dist.ReduceOp.AVG),
        "short": lambda: dist.broadcast(own.to(torch.int16), 0),
        "mixed": lambda: dist.all_gather([own, own.cpu()], own),
        "two": lambda: dist.all_gather([own, own.to(other)], own),
        "monitored": lambda: dist.monitored_barrier(),
        "any": lambda: dist.recv(own),
        "average": lambda: dist.all_reduce(own.int().add_(rank), dist.ReduceOp.AVG),
    }
    found = {name: words(call) for name, call in found.items()}
    work = dist.all_reduce(x := torch.ones(5) * rank, async_op=True)
    torch.cuda.synchronize()
    found["synchronize"] = x.tolist(), work.is_completed()
    dist.all_gather([a := torch.zeros(1), b := torch.zeros(1)], torch.ones(1) + rank)
    torch.cuda.synchronize()
    found["list"] = [a.item(), b.item()]
    dist.all_gather_object(objects := [None, None], {"rank": rank})
    found["objects"] = objects
    if rank == 0:
        dist.send(torch.tensor([5.0]), 1, tag=3)
    else:
        dist.recv(x := torch.zeros(1), 0, tag=8)  # NCCL has no tags
        found["message"] = x.item()
    both = dist.new_group(backend="cpu:gloo,cuda:nccl")
    dist.all_reduce(x := torch.ones(2), group=both)
    dist.all_reduce(y := torch.ones(2, device="cpu"), group=both)
    dist.barrier(both)
    found["both"] = [x.tolist(), y.tolist(), dist.get_backend(both), dist.get_backend()]
    dist.barrier(device_ids=[rank])
    return found


def test_rules():
    ranks = run(rules, 2, backend="nccl")
    for found in ranks:
        assert "RuntimeError: No backend type associated with device type cpu" in found["cpu"]
        assert "ValueError: Tensors must be contiguous" in found["strides"]
        assert "ValueError: Cannot use ReduceOp.BOR with NCCL" in found["bits"]
        assert "TypeError: Cannot use ReduceOp.AVG with Boolean inputs" in found["boolean"]
        assert "TypeError: Input tensor data type is not supported for NCCL" in found["short"]
        assert "RuntimeError: No backend type" in found["mixed"]
        assert "ValueError: Expected list of tensors on the same device" in found["two"]
        assert "ValueError: monitored_barrier is only implemented for GLOO" in found["monitored"]
        assert "RuntimeError: Backend nccl does not support recvAnysource" in found["any"]
        assert found["average"] is None
        assert found["synchronize"] == ([1.0] * 5, True) and found["list"] == [1.0, 2.0]
        assert found["objects"] == [{"rank": 0}, {"rank": 1}]
        assert found["both"] == [[2.0, 2.0], [2.0, 2.0], "cpu:gloo,cuda:nccl", "nccl"]
    assert ranks[1]["message"] == 5.0


def bound(rank, size, port):
    found = []
    for attempt, own in enumerate((rank, 0)):
        torch.cuda.virtual(2)
        store = dist.PrefixStore(str(attempt), dist.TCPStore("127.0.0.1", port))
        options = {"store": store, "rank": rank, "world_size": size, "device_id": own}
        found.append(words(lambda: dist.init_process_group("nccl", **options)))  # noqa: B023
        if dist.is_initialized():
            other = torch.ones(1, device=f"cuda:{1 - own}")
            found.append(words(lambda: dist.all_reduce(other)))  # noqa: B023
            dist.all_reduce(x := torch.ones(1, device=f"cuda:{own}"))
            dist.barrier()
            found.append(x.item())
            dist.destroy_process_group()
    return found


def duplicates(rank, size):
    found = [words(lambda: dist.all_reduce(torch.ones(2, device="cuda:0")))]
    dist.all_reduce(x := torch.ones(1))  # on GPUs of their own it goes on
    return [*found, x.item()]


def test_two_ranks_on_one_gpu():
    for rank, (text, value) in enumerate(run(duplicates, 2, backend="nccl")):
        assert "DistBackendError: NCCL error" in text and value == 2.0
        assert f"Duplicate GPU detected : rank {rank} and rank {1 - rank} both on CUDA" in text
        assert f"rank {rank} is on cuda:0 of host" in text and "torch.cuda.set_device" in text


def test_device_id():
    for made, wrong, value, again in run(bound, 2, bare=True):
        assert made is None and value == 2.0 and "Duplicate GPU detected" in again
        assert "DistBackendError: Attempt to perform collective on tensor not on device" in wrong


def surface(rank, size):
    return [test_surface.together(rank, size), test_surface.gradients(rank, size)]


def test_coalesced_calls_and_gradients_are_those_of_gloo():
    found = repr(run(surface, 3, backend="nccl")).replace("'nccl', True", "'gloo', True")
    assert found == repr(run(surface, 3))


def family(rank, size, folder):
    shards = test_fsdp.trainings(rank, size, test_fsdp.WAYS[:2])
    saved = words(lambda: checkpoint.async_save({"x": torch.ones(2)}, checkpoint_id=folder))
    checkpoint.save({"x": torch.ones(2) * rank}, checkpoint_id=folder)
    return test_ddp_hooks.torchs_hooks(rank, size), [each[0] for each in shards], saved


def test_hooks_shards_and_checkpoints(tmp_path):
    one, two = run(functools.partial(family, folder=str(tmp_path / "saved")), 2, backend="nccl")
    assert repr(one) == repr(two) and "A CPU backend must be enabled for async save" in one[2]


def alone(**options):
    try:
        dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1, **options)
        return dist.get_backend()
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def test_backends_and_devices():
    with torch.cuda.virtual(2):
        assert dist.is_nccl_available() and dist.is_backend_available("NCCL")
        assert alone(backend="nccl") == "nccl" and alone(device_id=1) == "nccl"
        assert alone() == "undefined" and alone(backend="cuda:gloo") == "cuda:gloo"
        for options, said in (
            ({"device_id": 2}, "device_id cuda:2 is out of range"),
            ({"device_id": torch.device("cuda")}, "Please use a device_id with index"),
            ({"device_id": torch.device("cpu")}, "must be an accelerator with an index"),
            ({"backend": "cpu:nccl"}, "Invalid device:backend pairing"),
            ({"backend": "cpu:gloo,cpu:gloo"}, "Duplicate device type cpu"),
            ({"backend": "cpu:gloo,nccl"}, "Invalid device:backend pairing"),
        ):
            with pytest.raises(ValueError, match=said):
                alone(**options)
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
        try:
            with pytest.raises(RuntimeError, match="No backend type associated with device type"):
                dist.all_reduce(torch.ones(2))
        finally:
            dist.destroy_process_group()
    with torch.cuda.virtual(0):
        assert not dist.is_nccl_available()
        with pytest.raises(ValueError, match="no GPUs found"):
            alone(backend="nccl")
    assert dist.get_default_backend_for_device("cuda:1") == "nccl"
    assert dist.get_default_backend_for_device(torch.device("cpu")) == "gloo"
