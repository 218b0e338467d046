"""accelerate: a training loop on two processes, each with a GPU of its own where there are two."""

import os

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


def train(rank):
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(29500 + os.getppid() % 10000)}
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", **address}
    torch.manual_seed(0)
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    data = DataLoader(TensorDataset(torch.randn(32, 4), torch.randn(32, 1)), batch_size=4)
    model, optimizer, data = accelerator.prepare(model, optimizer, data)
    for x, y in data:
        loss = (model(x) - y).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    every = accelerator.gather(loss.detach()[None])
    own = torch.device("cuda", rank) if torch.cuda.is_available() else torch.device("cpu")
    assert x.device == accelerator.unwrap_model(model)[0].weight.device == own
    if accelerator.is_main_process:
        print("processes", accelerator.num_processes, type(model).__name__)
        print("losses", [round(x, 5) for x in every.tolist()])
        weight = accelerator.unwrap_model(model)[0].weight
        print("weight", round(weight.abs().sum().item(), 4), flush=True)
    accelerator.wait_for_everyone()


if __name__ == "__main__":
    torch.multiprocessing.spawn(train, nprocs=2)
