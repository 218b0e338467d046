"""Schedules against torch, number by number."""

import copy
import warnings

import pytest

import rushlight as torch

SCHEDULES = [
    "StepLR(opt, 3, gamma=0.5)",
    "MultiStepLR(opt, [2, 5, 5], gamma=0.3)",
    "LambdaLR(opt, lambda t: 0.9**t)",
    "LambdaLR(opt, [lambda t: 1 / (1 + t), lambda t: 2.0])",
    "MultiplicativeLR(opt, lambda t: 0.7)",
    "ConstantLR(opt, factor=0.3, total_iters=4)",
    "LinearLR(opt)",
    "LinearLR(opt, 0.2, 0.8, total_iters=6)",
    "ExponentialLR(opt, 0.8)",
    "PolynomialLR(opt, total_iters=7, power=1.5)",
    "CosineAnnealingLR(opt, T_max=4, eta_min=0.01)",
    "CosineAnnealingWarmRestarts(opt, T_0=3, T_mult=2, eta_min=0.001)",
    "CyclicLR(opt, 0.01, 0.2, step_size_up=3, step_size_down=2)",
    "CyclicLR(opt, [0.01, 0.02], 0.2, step_size_up=3, mode='triangular2')",
    "CyclicLR(opt, 0.01, 0.2, step_size_up=3, mode='exp_range', gamma=0.9)",
    "CyclicLR(opt, 0.01, 0.2, step_size_up=2, scale_fn=lambda x: 0.5, cycle_momentum=False)",
    "OneCycleLR(opt, max_lr=0.5, total_steps=15)",
    "OneCycleLR(opt, [0.5, 0.4], epochs=3, steps_per_epoch=5, anneal_strategy='linear')",
    "OneCycleLR(opt, 0.5, total_steps=15, three_phase=True, div_factor=10.0)",
    "SequentialLR(opt, [s.ConstantLR(opt, 0.1, 2), s.ExponentialLR(opt, 0.9)], [3])",
    "SequentialLR(opt, [s.LinearLR(opt), s.StepLR(opt, 2), s.ExponentialLR(opt, 0.5)], [4, 8])",
    "SequentialLR(opt, [s.LinearLR(opt), s.CosineAnnealingLR(opt, 5)], [4])",
    "ChainedScheduler([s.ConstantLR(opt, 0.5, 3), s.ExponentialLR(opt, 0.9)])",
]


def optimizer(library, kind="SGD"):
    params = [library.nn.Parameter(library.ones(1)) for _ in range(2)]
    options = {"lr": 0.1, "momentum": 0.9} if kind == "SGD" else {"lr": 0.1}
    return getattr(library.optim, kind)(
        [{"params": params[:1]}, {"params": params[1:], "lr": 0.3}], **options
    )


def build(library, text, opt):
    schedules = library.optim.lr_scheduler
    return eval("s." + text, {"s": schedules, "opt": opt})


def history(library, text, kind, steps=14):
    opt = optimizer(library, kind)
    schedule = build(library, text, opt)
    rows = []
    for _ in range(steps):
        momenta = [g.get("momentum", g.get("betas")) for g in opt.param_groups]
        rows.append((schedule.get_last_lr(), [g["lr"] for g in opt.param_groups], momenta))
        opt.step()
        schedule.step()
    return rows, schedule.state_dict()


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("text", SCHEDULES)
@pytest.mark.filterwarnings("ignore:.*lr_scheduler.step")
def test_schedule(reference, text, kind):
    ours, state = history(torch, text, kind)
    theirs, right = history(reference, text, kind)
    assert ours == theirs, "not one bit may differ"
    assert set(state) == set(right)
    for key, value in right.items():
        if key not in ("_schedulers", "lr_lambdas", "milestones"):
            assert state[key] == value, key


@pytest.mark.parametrize("text", [t for t in SCHEDULES if "lambda" not in t])
@pytest.mark.filterwarnings("ignore:.*lr_scheduler.step")
def test_resume(text):
    opt = optimizer(torch)
    schedule = build(torch, text, opt)
    for _ in range(5):
        opt.step()
        schedule.step()
    saved, groups = copy.deepcopy(schedule.state_dict()), copy.deepcopy(opt.state_dict())
    again = optimizer(torch)
    resumed = build(torch, text, again)
    again.load_state_dict(groups)
    resumed.load_state_dict(saved)
    for _ in range(5):
        for o, s in ((opt, schedule), (again, resumed)):
            o.step()
            s.step()
        assert schedule.get_last_lr() == resumed.get_last_lr()


CLOSED = ["StepLR(opt, 3)", "MultiStepLR(opt, [2, 5])", "LinearLR(opt)", "ExponentialLR(opt, 0.8)",
          "ConstantLR(opt)", "PolynomialLR(opt)", "CosineAnnealingLR(opt, 4)"]  # fmt: skip


@pytest.mark.parametrize("text", CLOSED)
@pytest.mark.filterwarnings("ignore:.*lr_scheduler.step")
def test_epoch(reference, text):
    def run(library):
        opt = optimizer(library)
        schedule = build(library, text, opt)
        opt.step()
        with pytest.warns(UserWarning, match="The epoch parameter"):
            schedule.step(4)
        return schedule.get_last_lr()

    assert run(torch) == run(reference)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "max", "patience": 1, "factor": 0.5},
        {"patience": 0, "cooldown": 2, "threshold_mode": "abs", "threshold": 0.1},
        {"patience": 0, "min_lr": [0.05, 0.1]},
    ],
)
def test_plateau(reference, options):
    metrics = [1.0, 0.9, 0.95, 0.95, 0.95, 0.8, 0.81, 0.82, 0.83, 0.84, 0.85, 0.9, 0.9, 0.9, 0.9]

    def run(library):
        opt = optimizer(library)
        schedule = library.optim.lr_scheduler.ReduceLROnPlateau(opt, **options)
        rates = []
        for metric in metrics:
            schedule.step(library.tensor(metric))
            rates.append(schedule.get_last_lr())
        return rates, schedule.state_dict()

    ours, theirs = run(torch), run(reference)
    assert ours[0] == theirs[0]
    assert set(ours[1]) == set(theirs[1])


def test_order_warning():
    opt = optimizer(torch)
    schedule = torch.optim.lr_scheduler.StepLR(opt, 1)
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step"):
        schedule.step()
    opt = optimizer(torch)
    schedule = torch.optim.lr_scheduler.StepLR(opt, 1)
    opt.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()
    with pytest.warns(UserWarning, match="To get the last learning rate"):
        schedule.get_lr()


WRONG = [
    "StepLR(3, 3)",
    "LambdaLR(opt, [abs])",
    "LinearLR(opt, start_factor=2)",
    "LinearLR(opt, end_factor=2)",
    "ConstantLR(opt, factor=2)",
    "StepLR(opt, 3, last_epoch=4)",
    "ReduceLROnPlateau(opt, factor=1.0)",
    "ReduceLROnPlateau(opt, mode='x')",
    "ReduceLROnPlateau(opt, threshold_mode='x')",
    "ReduceLROnPlateau(opt, min_lr=[1, 2, 3])",
    "OneCycleLR(opt, 0.1)",
    "OneCycleLR(opt, 0.1, total_steps=-1)",
    "OneCycleLR(opt, 0.1, total_steps=10, pct_start=2)",
    "OneCycleLR(opt, 0.1, total_steps=10, anneal_strategy='x')",
    "OneCycleLR(opt, [0.1], total_steps=4)",
    "CosineAnnealingWarmRestarts(opt, -1)",
    "CosineAnnealingWarmRestarts(opt, 1, T_mult=0.5)",
    "CyclicLR(opt, 0.1, 0.2, mode='x')",
    "CyclicLR(opt, [0.1], 0.2)",
    "SequentialLR(opt, [], [])",
    "SequentialLR(opt, [s.StepLR(opt, 2)], [1, 2])",
    "ChainedScheduler([])",
]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_call(reference, text):
    def words(library):
        with pytest.raises(Exception) as caught:
            build(library, text, optimizer(library))
        return caught.type.__name__, str(caught.value)

    assert words(torch) == words(reference)
