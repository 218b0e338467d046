"""Post-local SGD: gradients averaged at first, parameters later, as torch has it."""

import pytest

import rushlight.distributed as dist
from rushlight.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook as hooks
from rushlight.distributed.algorithms.model_averaging import averagers
from tests.conftest import ask
from tests.distributed.worlds import library, run

pytestmark = pytest.mark.gloo


def trained(rank, size):
    """Losses and weights of eight steps, the last five of which average parameters in turn."""
    torch = library()
    from importlib import import_module

    home = torch.__name__ + ".distributed."
    hook = import_module(home + "algorithms.ddp_comm_hooks.post_localSGD_hook")
    averaging = import_module(home + "algorithms.model_averaging.averagers")
    optim = import_module(home + "optim")
    found = []
    for allreduce in (True, False):
        torch.manual_seed(0)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(6, 2))
        alone, _ = torch.distributed.new_subgroups(1)
        state = hook.PostLocalSGDState(None, alone, 3, allreduce)
        model.register_comm_hook(state, hook.post_localSGD_hook)
        averager = averaging.PeriodicModelAverager(period=2, warmup_steps=3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer = optim.PostLocalSGDOptimizer(optimizer, averager)
        torch.manual_seed(5 + rank)
        for _ in range(8):
            optimizer.zero_grad()
            loss = model(torch.randn(4, 6)).square().mean()
            loss.backward()
            optimizer.step()
            found.append([loss.item(), *model.module.weight.flatten().tolist()])
        kept = optimizer.state_dict()
        assert kept["step"] == averager.step == 8
        averager.step = 0
        optimizer.load_state_dict(kept)
        assert averager.step == 8
    return found


def test_steps_are_those_of_torch():
    expected = ask(lambda torch: run(trained, 2, torch=True))
    for ours, theirs in zip(run(trained, 2), expected, strict=True):
        for mine, yours in zip(ours, theirs, strict=True):
            assert mine == pytest.approx(yours, abs=1e-5)


def refusals(rank, size):
    with pytest.raises(ValueError, match="period"):
        averagers.PeriodicModelAverager(period=0)
    with pytest.raises(ValueError, match="warmup_steps"):
        averagers.PeriodicModelAverager(period=2, warmup_steps=-1)
    state = hooks.PostLocalSGDState(None, None, 1)
    return state.subgroup.size() == dist.get_world_size()


def test_what_is_refused():
    assert run(refusals, 2) == [True, True]
