"""Whole steps, data loading and files."""

import os
import tempfile

from tests.benchmarks.limits import moving, multiplying, writing
from tests.benchmarks.rows import Row


def cifar_net(t):
    """The network of the fifth document: three 5x5 convolutions with pooling, two linear layers."""
    nn = t.nn
    t.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2), nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 5, padding=2), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10),
    )  # fmt: skip


def cifar_step(t):
    net = cifar_net(t)
    loss, opt = t.nn.CrossEntropyLoss(), t.optim.SGD(net.parameters(), lr=0.01)
    return {"step": step_of(net, loss, opt, t.rand(64, 3, 32, 32), t.arange(64) % 10)}


def mnist_step(t):
    nn = t.nn
    t.manual_seed(0)
    net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    opt = t.optim.SGD(net.parameters(), lr=0.01)
    return {"step": step_of(net, nn.CrossEntropyLoss(), opt, t.rand(64, 784), t.arange(64) % 10)}


def step_of(net, loss, opt, x, target):
    def step():
        opt.zero_grad()
        loss(net(x), target).backward()
        opt.step()

    return step


def loader(columns, batch_size):
    def setup(t):
        data = t.utils.data
        t.manual_seed(0)
        dataset = data.TensorDataset(t.rand(4096, columns), t.arange(4096))
        batches = data.DataLoader(dataset, batch_size=batch_size, shuffle=True)

        def epoch():
            for _ in batches:
                pass

        return {"epoch": epoch}

    return setup


def collating(t):
    class Squares(t.utils.data.Dataset):
        def __init__(self):
            self.values = t.rand(1024, 4)

        def __len__(self):
            return 1024

        def __getitem__(self, i):
            return self.values[i], i

    batches = t.utils.data.DataLoader(Squares(), batch_size=64)

    def epoch():
        for _ in batches:
            pass

    return {"epoch": epoch}


def transforming(t):
    import numpy
    from PIL import Image

    picture = Image.fromarray(numpy.arange(3072, dtype=numpy.uint8).reshape(32, 32, 3))
    mean = (0.5, 0.5, 0.5)
    if t.__name__ == "rushlight":
        from rushlight.vision import transforms

        chain = transforms.Compose([transforms.ToTensor(), transforms.Normalize(mean, mean)])
    else:  # torchvision's steps by hand, without the calls between them

        def chain(picture):
            pixels = t.from_numpy(numpy.array(picture, copy=True)).view(32, 32, 3)
            x = pixels.permute(2, 0, 1).contiguous().to(t.float32).div(255)
            shift, scale = (t.as_tensor(mean).view(-1, 1, 1) for _ in range(2))
            return x.clone().sub_(shift).div_(scale)

    return {"chain": chain, "picture": picture}


def checkpoint(tensors, size):
    def setup(t):
        folder = tempfile.TemporaryDirectory()
        path = os.path.join(folder.name, "state.pt")
        state = {f"layer{i}.weight": t.ones(size, size) for i in range(tensors)}
        t.save(state, path)
        return {"t": t, "state": state, "path": path, "folder": folder}

    return setup


STEP = "CIFAR step, batch 64"
# Multiplications of a step: forward, and the gradients of the weights and of all inputs but x.
FIRST = 64 * 32 * 32 * 32 * 3 * 25
CIFAR = 2 * FIRST + 3 * 64 * (16 * 16 * 32 * 32 * 25 + 8 * 8 * 64 * 32 * 25 + 1024 * 64 + 640)
MNIST = 64 * (2 * 784 * 128 + 3 * 128 * 10)
EPOCH = 4096 * 3072 * 4  # bytes
ROWS = [
    Row("step()", 0.68, cifar_step, STEP, rounds=7, limit=multiplying(CIFAR)),
    Row("step()", 0.72, cifar_step, STEP + ", 2 threads", threads=2, rounds=7,
        limit=multiplying(CIFAR, threads=2)),
    Row("step()", 0.5, mnist_step, "MNIST MLP step, batch 64", limit=multiplying(MNIST)),
    Row("epoch()", 0.05, loader(10, 32), "DataLoader, TensorDataset, 4096 rows of 10", rounds=5),
    Row("epoch()", 0.05, loader(3072, 64), "DataLoader, TensorDataset, an epoch of 4096", rounds=5,
        limit=moving(2 * EPOCH)),
    Row("epoch()", 0.5, collating, "DataLoader, Python __getitem__, 1024", rounds=5),
    Row("chain(picture)", 0.06, transforming, "ToTensor + Normalize, 32x32"),
    Row("t.save(state, path)", 0.5, checkpoint(25, 1024), "save 100 MB", rounds=5,
        limit=writing(100 << 20)),
    Row("t.load(path)", 0.3, checkpoint(25, 1024), "load 100 MB", rounds=5,
        limit=moving(200 << 20)),
    Row("t.save(state, path)", 1.5, checkpoint(1000, 8), "save 1000 small tensors"),
    Row("t.load(path)", 0.5, checkpoint(1000, 8), "load 1000 small tensors"),
]  # fmt: skip
