"""What PyTorch's tutorials of FSDP2, FSDP and distributed.checkpoint do, in our own words: programs
that say `import torch`, run by rushlight run and rushlight launch.
"""

import pytest

from tests.distributed.test_tutorials import rushlight

pytestmark = pytest.mark.gloo

FULLY_SHARD = """
import os, sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions, _init_optim_state, get_model_state_dict, get_optimizer_state_dict,
    set_model_state_dict, set_optimizer_state_dict,
)
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Shard, distribute_tensor


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention_norm, self.norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out, self.heads = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), heads
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.attention_norm(x)).view(b, n, 3, self.heads, -1).unbind(2)
        y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, n, d))
        return x + self.mlp(self.norm(x))


class Transformer(nn.Module):
    def __init__(self, vocabulary=32, dim=16, length=8):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, dim), nn.Embedding(length, dim)
        self.layers = nn.ModuleList(Block(dim, 4) for _ in range(3))
        self.norm, self.output = nn.LayerNorm(dim), nn.Linear(dim, vocabulary, bias=False)

    def forward(self, x):
        h = self.tokens(x) + self.places(torch.arange(x.size(1), device=x.device))
        for layer in self.layers:
            h = layer(h)
        return self.output(self.norm(h)).float()

    def reset_parameters(self):
        for module in self.modules():
            if module is not self and hasattr(module, "reset_parameters"):
                module.reset_parameters()


rank = int(os.environ["LOCAL_RANK"])
if torch.accelerator.is_available():
    device = torch.device(f"{torch.accelerator.current_accelerator()}:{rank}")
    torch.accelerator.set_device_index(rank)
else:
    device = torch.device("cpu")
torch.distributed.init_process_group(
    backend=torch.distributed.get_default_backend_for_device(device)
)
half, dcp = "half" in sys.argv, "dcp" in sys.argv
torch.manual_seed(0)
with torch.device("meta"):
    model = Transformer()
options = {}
if half:
    options["mp_policy"] = MixedPrecisionPolicy(
        param_dtype=torch.bfloat16, reduce_dtype=torch.float32
    )
for layer in model.layers:
    fully_shard(layer, **options)
fully_shard(model, **options)
assert isinstance(model, Transformer) and isinstance(model, FSDPModule)
for p in model.parameters():
    assert p.placements == (Shard(0),) and p.dtype == torch.float32 and p.is_meta
for i, layer in enumerate(model.layers):
    model.layers[i].set_modules_to_forward_prefetch(list(model.layers)[i + 1 : i + 3])
    model.layers[i].set_modules_to_backward_prefetch(list(model.layers)[max(0, i - 2) : i][::-1])

first = not os.path.exists("model.pt")
if first:
    model.to_empty(device=device)
    model.reset_parameters()
else:
    whole = torch.load("model.pt", mmap=True, weights_only=True, map_location="cpu")
    if dcp:
        set_model_state_dict(
            model, whole, options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
        )
    else:
        parts = {}
        for name, tensor in whole.items():
            like = model.state_dict()[name]
            part = distribute_tensor(tensor, like.device_mesh, like.placements)
            parts[name] = nn.Parameter(part)
        model.load_state_dict(parts, strict=False, assign=True)
if half:
    model.unshard()
    assert all(p.dtype == torch.bfloat16 for p in model.parameters(recurse=False))
    model.reshard()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
if not first:
    whole = torch.load("optimizer.pt", mmap=True, weights_only=True, map_location="cpu")
    if dcp:
        set_optimizer_state_dict(
            model, optimizer, whole,
            options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True),
        )
    else:
        _init_optim_state(optimizer)
        groups, state = optimizer.state_dict()["param_groups"], optimizer.state_dict()["state"]
        for each in groups:
            for i in each["params"]:
                for key, like in state[i].items():
                    if isinstance(like, DTensor):
                        like = distribute_tensor(
                            whole["state"][i][key], like.device_mesh, like.placements)
                    else:
                        like = whole["state"][i][key]
                    state[i][key] = like
        optimizer.load_state_dict({"param_groups": groups, "state": state})
for step in range(4):
    model.unshard(async_op=True)
    x = torch.randint(0, 32, (4, 8), device=device)
    loss = F.cross_entropy(model(x).flatten(0, 1), x.flatten())
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    optimizer.zero_grad()
assert first or optimizer.state[model.norm.weight]["step"] == 8

if dcp:
    both = StateDictOptions(full_state_dict=True, cpu_offload=True)
    saved = get_model_state_dict(model, options=both)
    moments = get_optimizer_state_dict(model, optimizer, options=both)
else:
    saved = {k: v.full_tensor().cpu() for k, v in model.state_dict().items()}
    found = optimizer.state_dict()
    moments = {"param_groups": found["param_groups"], "state": {
        i: {k: v.full_tensor().cpu() if isinstance(v, DTensor) else v for k, v in each.items()}
        for i, each in found["state"].items()}}
if torch.distributed.get_rank() == 0:
    torch.save(saved, "model.pt")
    torch.save(moments, "optimizer.pt")
    print(f"loss {loss.item():.2f} on {device.type}, {'first' if first else 'again'}")
torch.distributed.barrier()
torch.distributed.destroy_process_group()
"""


@pytest.mark.parametrize("words", [["dcp", "half"], []])
def test_fully_shard_as_in_its_first_steps(tmp_path, words):
    for which in ("first", "again"):
        done = rushlight(
            tmp_path, FULLY_SHARD, "launch", "--nproc-per-node", "2",
            *(["--gpus", "2"] if words else []), arguments=words,
        )  # fmt: skip
        assert f"on {'cuda' if words else 'cpu'}, {which}" in done.stdout


WRAPPER = """
import functools, os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.fully_sharded_data_parallel import BackwardPrefetch, CPUOffload
from torch.distributed.fsdp.wrap import enable_wrap, size_based_auto_wrap_policy, wrap
from torch.optim.lr_scheduler import StepLR
from torch.utils.data.distributed import DistributedSampler


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, 1), nn.Conv2d(8, 16, 3, 1)
        self.dropout1, self.dropout2 = nn.Dropout(0.25), nn.Dropout(0.5)
        self.fc1, self.fc2 = nn.Linear(16 * 36, 32), nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        x = self.dropout2(F.relu(self.fc1(torch.flatten(self.dropout1(x), 1))))
        return F.log_softmax(self.fc2(x), dim=1)


def epoch(model, rank, loader, optimizer, number, sampler):
    model.train()
    total = torch.zeros(2).to(rank)
    sampler.set_epoch(number)
    for x, y in loader:
        x, y = x.to(rank), y.to(rank)
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y, reduction="sum")
        loss.backward()
        optimizer.step()
        total[0] += loss.item()
        total[1] += len(x)
    dist.all_reduce(total, op=dist.ReduceOp.SUM)
    return (total[0] / total[1]).item()


def test(model, rank, loader):
    model.eval()
    total = torch.zeros(2).to(rank)
    with torch.no_grad():
        for x, y in loader:
            total[0] += (model(x.to(rank)).argmax(1) == y.to(rank)).sum().item()
            total[1] += len(x)
    dist.all_reduce(total, op=dist.ReduceOp.SUM)
    return total[1].item()


def main(rank, size):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", os.environ["PORT"]
    dist.init_process_group("nccl", rank=rank, world_size=size)
    torch.manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.randn(64, 1, 16, 16), torch.arange(64) % 10)
    sampler = DistributedSampler(data, rank=rank, num_replicas=size, shuffle=True)
    loader = torch.utils.data.DataLoader(data, batch_size=8, sampler=sampler, pin_memory=True)
    policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1000)
    torch.cuda.set_device(rank)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    model = FSDP(Net().to(rank), auto_wrap_policy=policy, cpu_offload=CPUOffload(False))
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    begin.record()
    for number in range(1, 4):
        last = epoch(model, rank, loader, optimizer, number, sampler)
        assert test(model, rank, loader) == 64
        scheduler.step()
        if number == 1:
            earlier = last
    end.record()
    torch.cuda.synchronize()
    dist.barrier()
    states = model.state_dict()
    if rank == 0:
        print(model)
        torch.save(states, "mnist_cnn.pt")
        Net().load_state_dict(torch.load("mnist_cnn.pt"))
        print(f"seconds {begin.elapsed_time(end) / 1000 > 0}, fell {last < earlier}")
    dist.destroy_process_group()


if __name__ == "__main__":
    import socket
    with socket.socket() as s:
        s.bind(("localhost", 0))
        os.environ["PORT"] = str(s.getsockname()[1])
    size = torch.cuda.device_count()
    mp.spawn(main, args=(size,), nprocs=size, join=True)
"""


def test_the_older_wrapper_on_images(tmp_path):
    done = rushlight(tmp_path, WRAPPER, "run", "--gpus", "2")
    assert "seconds True, fell True" in done.stdout
    assert "(fc1): FullyShardedDataParallel(" in done.stdout


CHECKPOINT = """
import os
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn as nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.checkpoint.stateful import Stateful
from torch.distributed.fsdp import fully_shard


class AppState(Stateful):
    def __init__(self, model, optimizer=None):
        self.model, self.optimizer = model, optimizer

    def state_dict(self):
        model, optimizer = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optim": optimizer}

    def load_state_dict(self, state):
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"],
                       optim_state_dict=state["optim"])


class Toy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.relu, self.net2 = nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 8)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    model = fully_shard(Toy())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    future = None
    for step in range(3):
        optimizer.zero_grad()
        model(torch.rand(8, 16)).sum().backward()
        optimizer.step()
        if future is not None:
            future.result()
        future = dcp.async_save({"app": AppState(model, optimizer)}, checkpoint_id="asynchronous")
    future.result()
    dcp.save({"app": AppState(model, optimizer)}, checkpoint_id="checkpoint")
    other = fully_shard(Toy())
    fresh = torch.optim.Adam(other.parameters(), lr=0.1)
    for folder in ("checkpoint", "asynchronous"):
        dcp.load({"app": AppState(other, fresh)}, checkpoint_id=folder)
        for a, b in zip(model.parameters(), other.parameters()):
            assert torch.equal(a.full_tensor(), b.full_tensor())
            assert fresh.state[b]["step"] == 3
    dist.barrier()
    if dist.get_rank() == 0:
        plain = {"app": {"model": Toy().state_dict()}}
        dcp.load(plain, checkpoint_id="checkpoint", no_dist=True)
        Toy().load_state_dict(plain["app"]["model"])
        dcp.format_utils.dcp_to_torch_save("checkpoint", "all.pt")
        print(sorted(torch.load("all.pt")["app"]["model"]))
    dist.destroy_process_group()


main()
"""


def test_checkpoints_as_in_their_recipe(tmp_path):
    done = rushlight(tmp_path, CHECKPOINT, "launch", "--nproc-per-node", "2")
    assert "['net1.bias', 'net1.weight', 'net2.bias', 'net2.weight']" in done.stdout
