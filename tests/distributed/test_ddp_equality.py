"""DistributedDataParallel over 100 steps: equal bits on all ranks, the losses of torch's and of one
process with the whole batch."""

import zlib

import pytest

from tests.conftest import ask
from tests.distributed.worlds import library, run

pytestmark = pytest.mark.gloo
BATCH, STEPS = 24, 100


def losses(rank, size, wrapped=True):
    """(loss of the whole batch in each step, the bits of the weights at the end)."""
    torch = library()
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Linear(16, 3))
    if wrapped:
        model = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.001)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    torch.manual_seed(1)
    data, target = torch.randn(BATCH, 6), torch.randn(BATCH, 3)
    n = BATCH // size
    own = slice(rank * n, rank * n + n)
    found = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = (model(data[own]) - target[own]).square().mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item() / size)
    found = torch.tensor(found)
    if wrapped:
        torch.distributed.all_reduce(found)
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    return found.tolist(), zlib.crc32(weights.numpy().tobytes())


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
def test_equal_bits_and_the_losses_of_one_process(size):
    found = run(losses, size, seconds=50)
    assert len({bits for _, bits in found}) == 1
    alone, _ = losses(0, 1, wrapped=False)
    assert alone[-1] < 0.9 * alone[0]
    assert found[0][0] == pytest.approx(alone, abs=1e-5)


def test_losses_are_those_of_torch(reference):
    expected = ask(lambda torch: [found for found, _ in run(losses, 2, torch=True)])
    for (mine, _), theirs in zip(run(losses, 2), expected, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-5)
