"""join(): ranks with different numbers of batches get torch's weights, and none hangs."""

from importlib import import_module

import pytest

import rushlight
from tests.conftest import ask
from tests.distributed.worlds import library, run

pytestmark = pytest.mark.gloo


def net(torch):
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def weights_after(batches, divides=True, sharded=False, **options):
    """All weights and buffers after this rank's number of batches."""
    torch = library()
    rank = torch.distributed.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(net(torch), bucket_cap_mb=1e-5, **options)
    joinables = [model]
    if sharded:
        zero = import_module(f"{torch.__name__}.distributed.optim").ZeroRedundancyOptimizer
        optimizer = zero(model.parameters(), torch.optim.Adam, lr=0.1)
        joinables.append(optimizer)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    Join = import_module(f"{torch.__name__}.distributed.algorithms.join").Join
    torch.manual_seed(7 + rank)
    with Join(joinables, divide_by_initial_world_size=divides):
        for i in range(batches[rank]):
            if i == 1 and not sharded:  # a Join steps once for each forward
                with model.no_sync():
                    model(torch.randn(4, 3)).square().mean().backward()
            model(torch.randn(4, 3)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    tensors = [*model.parameters(), *model.buffers()]
    return [[round(v, 6) for v in t.flatten().tolist()] for t in tensors]


def joins(rank, size):
    return [
        weights_after([2, 4]),
        weights_after([5, 2]),
        weights_after([5, 2], divides=False),
        weights_after([0, 3], find_unused_parameters=True),
        weights_after([3, 0], gradient_as_bucket_view=True),
        weights_after([1, 3], sharded=True),
    ]


def test_weights_are_those_of_torch(reference):
    expected = ask(lambda torch: run(joins, 2, torch=True))
    ours = run(joins, 2)
    assert ours[0] == ours[1]
    for mine, theirs in zip(ours[0], expected[0], strict=True):
        for a, b in zip(mine[:6], theirs[:6], strict=True):  # torch's no_sync() sends buffers
            assert a == pytest.approx(b, abs=2e-5)


def three(rank, size):
    return weights_after([1, 3, 2]), weights_after([0, 0, 2]), weights_after([2, 2, 2])


def test_three_ranks():
    ours = run(three, 3)
    assert ours[0] == ours[1] == ours[2]


def thrown(rank, size):
    """What throw_on_early_termination raises; what enable=False leaves out; wrong arguments."""
    Join = rushlight.distributed.algorithms.Join
    model = rushlight.nn.parallel.DistributedDataParallel(rushlight.nn.Linear(2, 1))
    found = []

    def loop():
        with model.join(throw_on_early_termination=True):
            for _ in range(2 + rank):
                model(rushlight.ones(1, 2)).sum().backward()

    def even():
        with model.join(enable=False):
            model(rushlight.ones(1, 2)).sum().backward()
        return "even"

    def fails():
        with model.join():
            raise KeyError("mine")

    for call in (loop, even, fails, lambda: Join([]), lambda: Join([3])):
        try:
            found.append(call())
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def test_errors():
    for rank, found in enumerate(run(thrown)):
        ended = "Rank 0 exhausted all inputs."
        others = "Detected at least one rank that exhausted inputs. Throwing across all ranks."
        assert found[0] == "RuntimeError: " + (others if rank else ended)
        assert found[1:3] == ["even", "KeyError: 'mine'"]
        assert "at least one joinable" in found[3] and "a Joinable is needed, not int" in found[4]
