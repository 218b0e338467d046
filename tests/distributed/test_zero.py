"""ZeroRedundancyOptimizer: the weights and the state of the optimizer alone, and torch's files."""

import io

import pytest

import rushlight
import rushlight.distributed as dist
from rushlight.distributed.optim import ZeroRedundancyOptimizer
from tests.distributed.worlds import run

pytestmark = pytest.mark.gloo
nn, optim = rushlight.nn, rushlight.optim


def net():
    rushlight.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2), nn.Linear(2, 1))


def steps(model, optimizer, n=3):
    schedule = optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    rushlight.manual_seed(1)
    for _ in range(n):
        optimizer.zero_grad()
        model(rushlight.randn(5, 4)).square().mean().backward()
        optimizer.step()
        schedule.step()
    return [p.detach().clone() for p in model.parameters()]


def same(a, b):
    return all(rushlight.equal(x, y) for x, y in zip(a, b, strict=True))


def trains(rank, size):
    found = []
    for kind, options in (
        (optim.Adam, {"lr": 0.1}),
        (optim.SGD, {"lr": 0.1, "momentum": 0.9}),
        (optim.AdamW, {"lr": 0.1, "amsgrad": True}),
    ):
        plain = net()
        alone = kind(plain.parameters(), **options)
        expected = steps(plain, alone)
        for views in (False, True):
            model = net()
            zero = ZeroRedundancyOptimizer(
                model.parameters(), kind, parameters_as_bucket_view=views, **options
            )
            found.append(same(steps(model, zero), expected))
        own = [id(p) for group in zero.optim.param_groups for p in group["params"]]
        assert 0 < len(own) < 6 and len(zero.optim.state) == len(own)
        assert zero.param_groups[0]["lr"] == alone.param_groups[0]["lr"]
        # The whole state, saved, loaded, and gone on with.
        zero.consolidate_state_dict(to=1)
        if rank == 1:
            state, theirs = zero.state_dict(), alone.state_dict()
            assert state["param_groups"] == theirs["param_groups"]
            assert sorted(state["state"]) == sorted(theirs["state"])
            for i, values in theirs["state"].items():
                for key, value in values.items():
                    other = state["state"][i][key]
                    same_ = value.cpu().equal(other) if isinstance(value, rushlight.Tensor) else (
                        value == other
                    )  # fmt: skip
                    assert same_, (i, key)
            rushlight.save(state, file := io.BytesIO())
            state = [rushlight.load(io.BytesIO(file.getvalue()))]
        else:
            with pytest.raises(RuntimeError, match="has not been consolidated on this rank"):
                zero.state_dict()
            state = [None]
        dist.broadcast_object_list(state, src=1)
        other = net()
        other.load_state_dict(model.state_dict())
        loaded = ZeroRedundancyOptimizer(other.parameters(), kind, lr=7.0)
        loaded.load_state_dict(state[0])
        found.append(same(steps(other, loaded), steps(plain, alone)))
    return found


@pytest.mark.parametrize("size", [2, 3])
def test_weights_and_state_are_those_of_the_optimizer_alone(size):
    for found in run(trains, size):
        assert all(found), found


def details(rank, size):
    """Groups, which rank has which state, a closure, and what is refused."""
    model = net()
    first, *others = model.children()
    zero = ZeroRedundancyOptimizer([{"params": first.parameters(), "lr": 0.5}], optim.SGD, lr=0.1)
    zero.add_param_group({"params": [p for m in others for p in m.parameters()], "lr": 0.25})
    rates = [group["lr"] for group in zero.param_groups]
    owned = [[tuple(p.shape) for p in g["params"]] for g in zero.optim.param_groups]

    def closure():
        zero.zero_grad()
        loss = model(rushlight.ones(2, 4)).square().mean()
        loss.backward()
        return loss

    loss = zero.step(closure).item()
    after = closure().item()
    words = []
    for call in (
        lambda: ZeroRedundancyOptimizer(model.parameters(), optim.SGD, overlap_with_ddp=True),
        lambda: ZeroRedundancyOptimizer(model.parameters(), "SGD"),
        lambda: ZeroRedundancyOptimizer(first.weight, optim.SGD, lr=0.1),
        lambda: ZeroRedundancyOptimizer([], optim.SGD, lr=0.1),
        lambda: zero.load_state_dict({"state": {}, "param_groups": []}),
    ):
        try:
            words.append(call())
        except Exception as error:
            words.append(f"{type(error).__name__}: {error}")
    return rates, owned, after < loss, words


def test_details():
    ours = run(details)
    rates, owned, learns, words = ours[0]
    assert rates == [0.5, 0.25] and learns
    assert owned[0] == [(8, 4)] and ours[1][1][0] == [(8,)]
    assert words[0].startswith("NotImplementedError") and "overlap_with_ddp" in words[0]
    assert words[1].startswith("TypeError") and words[2].startswith("TypeError")
    assert "empty parameter list" in words[3] and "doesn't match the size" in words[4]
