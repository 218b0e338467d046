"""torch.optim.swa_utils: averages of weights, the statistics of batch norms, the schedule."""

import warnings

import pytest

import rushlight
from tests.compare import same_as_torch
from tests.conftest import ask

AVERAGES = [
    "AveragedModel(m)",
    "AveragedModel(m, use_buffers=True)",
    "AveragedModel(m, avg_fn=s.get_ema_avg_fn(0.9))",
    "AveragedModel(m, avg_fn=s.get_swa_avg_fn(), use_buffers=True)",
    "AveragedModel(m, multi_avg_fn=s.get_ema_multi_avg_fn(0.7), use_buffers=True)",
    "AveragedModel(m, multi_avg_fn=s.get_swa_multi_avg_fn())",
]


def trained(library, average):
    library.manual_seed(0)
    nn, s = library.nn, library.optim.swa_utils
    m = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    averaged = eval(f"s.{average}", {"s": s, "m": m})
    optimizer = library.optim.SGD(m.parameters(), 0.1)
    x = library.randn(8, 3)
    for _ in range(4):
        optimizer.zero_grad()
        m(x).square().sum().backward()
        optimizer.step()
        averaged.update_parameters(m)
    s.update_bn([x, (x * 2, "label")], averaged)
    return averaged.eval()(x), averaged.state_dict()


@pytest.mark.parametrize("average", AVERAGES)
def test_averages(average):
    (ours, mine), (theirs, yours) = (
        trained(rushlight, average),
        ask(lambda torch: trained(torch, average)),
    )
    assert list(mine) == list(yours)
    same_as_torch([ours, *mine.values()], [theirs, *yours.values()], 1e-5)


SCHEDULES = [
    "SWALR(o, 0.05)",
    "SWALR(o, [0.05, 0.1], anneal_epochs=3, anneal_strategy='linear')",
    "SWALR(o, 0.05, anneal_epochs=0)",
    "SWALR(o, 0.05, anneal_epochs=-1)",
    "SWALR(o, 0.05, anneal_strategy='other')",
    "SWALR(o, [0.05])",
    "get_ema_avg_fn(1.5)",
    "get_ema_multi_avg_fn(-0.5)",
    "AveragedModel(1, avg_fn=1, multi_avg_fn=2)",
]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_rates_and_refusals(schedule):
    def results(library):
        parameters = [library.nn.Parameter(library.ones(1)) for _ in range(2)]
        o = library.optim.SGD([{"params": [p], "lr": 0.1 + i} for i, p in enumerate(parameters)])
        s = library.optim.swa_utils
        try:
            made = eval(f"s.{schedule}", {"s": s, "o": o})
        except (ValueError, AssertionError) as error:
            return type(error), str(error)
        rates = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for i in range(12):
                o.step()
                made.step()
                rates.append(made.get_last_lr())
                if i == 5:
                    state = made.state_dict()
                    made = eval(f"s.{schedule}", {"s": s, "o": o})
                    made.load_state_dict(state)
        state.pop("_opt_called", None)
        return rates, sorted(state)

    assert results(rushlight) == ask(results)
