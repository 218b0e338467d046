"""What PyTorch's DDP tutorials do, in our own words: programs that say `import torch` and "nccl".

They run unedited on virtual GPUs, by rushlight run and rushlight launch.
"""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.gloo


def rushlight(tmp_path, program, *words, code=0, arguments=()):
    path = tmp_path / "program.py"
    path.write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "rushlight", *words, str(path), *arguments], cwd=tmp_path,
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done


GETTING_STARTED = """
import os, socket, sys, tempfile
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.optim as optim
from torch.nn.parallel import DistributedDataParallel as DDP


def begin(rank, size, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", port
    kind = torch.accelerator.current_accelerator()
    torch.accelerator.set_device_index(rank)
    dist.init_process_group(dist.get_default_backend_for_device(kind), rank=rank, world_size=size)


class Net(nn.Module):
    def __init__(self, first=None, second=None):
        super().__init__()
        self.first, self.second = first, second
        self.one, self.two = nn.Linear(10, 10).to(first), nn.Linear(10, 5).to(second)

    def forward(self, x):
        x = torch.relu(self.one(x.to(self.first) if self.first is not None else x))
        return self.two(x.to(self.second) if self.second is not None else x)


def step(model, device, rank):
    optimizer = optim.SGD(model.parameters(), lr=0.001)
    optimizer.zero_grad()
    out = model(torch.randn(20, 10))
    nn.MSELoss()(out, torch.randn(20, 5).to(device)).backward()
    optimizer.step()


def basic(rank, size, port):
    begin(rank, size, port)
    model = DDP(Net().to(rank), device_ids=[rank])
    step(model, rank, rank)
    first = model.module.one.weight.detach()
    every = [torch.empty_like(first) for _ in range(size)]
    dist.all_gather(every, first)
    assert all(torch.equal(each, first) for each in every)
    dist.destroy_process_group()


def checkpoint(rank, size, port):
    begin(rank, size, port)
    model = DDP(Net().to(rank), device_ids=[rank])
    path = os.path.join(tempfile.gettempdir(), f"model-{port}.pt")
    if rank == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    places = {"cuda:0": f"cuda:{rank}"}
    model.load_state_dict(torch.load(path, map_location=places, weights_only=True))
    step(model, rank, rank)
    dist.barrier()
    if rank == 0:
        os.remove(path)
    dist.destroy_process_group()


def two_gpus_each(rank, size, port):
    begin(rank, size, port)
    first, second = 2 * rank, 2 * rank + 1
    model = DDP(Net(first, second))
    step(model, second, rank)
    dist.destroy_process_group()


def free_port():
    with socket.create_server(("localhost", 0)) as server:
        return str(server.getsockname()[1])


if __name__ == "__main__":
    count = torch.accelerator.device_count()
    assert count >= 2, f"at least two GPUs are needed, not {count}"
    for function, size in (basic, count), (checkpoint, count), (two_gpus_each, count // 2):
        mp.spawn(function, args=(size, free_port()), nprocs=size, join=True)
        print(function.__name__, size)
"""


def test_getting_started(tmp_path):
    done = rushlight(tmp_path, GETTING_STARTED, "run", "--gpus", "4")
    assert done.stdout.split("\n")[:3] == ["basic 4", "checkpoint 4", "two_gpus_each 2"]


ELASTIC = """
import os
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group(torch.distributed.get_default_backend_for_device(
    torch.accelerator.current_accelerator()))
rank = dist.get_rank()
device_id = rank % torch.accelerator.device_count()
model = DDP(nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 5)).to(device_id),
            device_ids=[device_id])
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
out = model(torch.randn(20, 10))
nn.MSELoss()(out, torch.randn(20, 5).to(device_id)).backward()
optimizer.step()
print(f"rank {rank} on {next(model.parameters()).device} of {torch.cuda.device_count()}\\n", end="")
dist.destroy_process_group()
"""


def test_elastic_on_four_ranks(tmp_path):
    done = rushlight(tmp_path, ELASTIC, "launch", "--nproc-per-node", "4", "--gpus", "1")
    expected = [f"rank {rank} on cuda:{rank} of 4" for rank in range(4)]
    assert sorted(done.stdout.splitlines()) == expected


SERIES = """
import os, sys
import torch
import torch.nn.functional as F
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Trainer:
    def __init__(self, model, data, optimizer, every, path):
        self.gpu = int(os.environ["LOCAL_RANK"])
        self.model, self.data, self.optimizer = model.to(self.gpu), data, optimizer
        self.every, self.path, self.epoch = every, path, 0
        if os.path.exists(path):
            found = torch.load(path, map_location=f"cuda:{self.gpu}")
            self.model.load_state_dict(found["MODEL_STATE"])
            self.epoch = found["EPOCHS_RUN"]
            print(f"goes on at epoch {self.epoch}\\n", end="")
        self.model = DDP(self.model, device_ids=[self.gpu])

    def batch(self, source, targets):
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(source), targets).backward()
        self.optimizer.step()

    def train(self, epochs):
        for epoch in range(self.epoch, epochs):
            self.data.sampler.set_epoch(epoch)
            print(f"[GPU{self.gpu}] epoch {epoch}: {len(self.data)} steps\\n", end="")
            for source, targets in self.data:
                self.batch(source.to(self.gpu), targets.to(self.gpu))
            if self.gpu == 0 and epoch % self.every == 0:
                state = {"MODEL_STATE": self.model.module.state_dict(), "EPOCHS_RUN": epoch + 1}
                torch.save(state, self.path)


def main(epochs, every, path):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    init_process_group(backend="nccl")
    data = TensorDataset(torch.randn(64, 20), torch.randint(0, 3, (64,)))
    model = torch.nn.Linear(20, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(data, batch_size=8, pin_memory=True, shuffle=False,
                        sampler=DistributedSampler(data))
    Trainer(model, loader, optimizer, every, path).train(epochs)
    destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), "snapshot.pt")
"""


def test_series_with_a_snapshot(tmp_path):
    words = ["launch", "--standalone", "--nproc-per-node=gpu", "--gpus", "2"]
    done = rushlight(tmp_path, SERIES, *words, arguments=["1", "1"])
    lines = [f"[GPU{gpu}] epoch 0: 4 steps" for gpu in range(2)]
    assert sorted(done.stdout.splitlines()) == lines
    done = rushlight(tmp_path, SERIES, *words, arguments=["2", "1"])
    lines = [f"[GPU{gpu}] epoch 1: 4 steps" for gpu in range(2)] + ["goes on at epoch 1"] * 2
    assert sorted(done.stdout.splitlines()) == lines


VISIBLE = """
import os
os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
import torch
import torch.distributed as dist
assert torch.cuda.device_count() == 1
dist.init_process_group("nccl", device_id=torch.device("cuda:0"))
x = torch.ones(2, device="cuda:0")
dist.all_reduce(x)
print(f"{x.tolist()}\\n", end="")
"""


def test_a_program_that_chooses_its_gpu_by_the_environment(tmp_path):
    done = rushlight(tmp_path, VISIBLE, "launch", "--nproc-per-node", "2", "--gpus", "1")
    assert done.stdout == "[2.0, 2.0]\n" * 2


def test_all_on_one_gpu_says_what_to_do(tmp_path):
    program = VISIBLE.replace('os.environ["LOCAL_RANK"]', '"0"')
    words = ["launch", "--nproc-per-node", "2", "--gpus", "1"]
    done = rushlight(tmp_path, program, *words, code=1)
    assert "Duplicate GPU detected" in done.stderr
    assert "torch.cuda.set_device(LOCAL_RANK)" in done.stderr


MESH = """
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

mesh = init_device_mesh("cuda", (2,))  # begins the group, and chooses the device by LOCAL_RANK
x = torch.ones(2, device="cuda")
dist.all_reduce(x, group=mesh.get_group())
group = dist.new_group(backend="gloo")
dist.all_reduce(y := torch.ones(2), group=group)
dist.monitored_barrier(group)
print(f"{x.device} {x.tolist()} {y.tolist()} {dist.get_backend(group)}\\n", end="")
"""


def test_a_mesh_of_gpus_and_a_group_of_cpus(tmp_path):
    done = rushlight(tmp_path, MESH, "launch", "--nproc-per-node", "2", "--gpus", "1")
    expected = [f"cuda:{rank} [2.0, 2.0] [2.0, 2.0] gloo" for rank in range(2)]
    assert sorted(done.stdout.splitlines()) == expected


def test_wrong_numbers_of_gpus(tmp_path):
    for gpus in ("65", "many", "-1"):
        done = rushlight(tmp_path, VISIBLE, "launch", f"--gpus={gpus}", code=2)
        assert "usage: rushlight" in done.stderr
