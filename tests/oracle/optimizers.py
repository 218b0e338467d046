"""torch's table of optimizers on both sides: several steps with each of its sets of arguments."""

import warnings

import torch
from torch.testing._internal.common_optimizers import optim_db

import rushlight
from tests import quick_torch
from tests.oracle.campaign import Report, same_refusal
from tests.oracle.compare import Difference, same_outcome
from tests.oracle.transfer import Carrier, Untransferable

quick_torch.draw_samples_anywhere()

SHAPES = ((3, 4), (5,), (), (2, 1, 3))
STEPS = 6
# Products of bfloat16, which another order of adding may round otherwise in each step: how many of
# torch's tolerances the parameters may be apart. Seen: 1.7 and 102.
SLACK = {("Muon", torch.float32): 6, ("Muon", torch.float64): 400}


def entries(names=()):
    return [o for o in optim_db if not names or o.optim_cls.__name__ in names]


def ours(info):
    """Our class of a row; None where there is none."""
    return getattr(rushlight.optim, info.optim_cls.__name__, None)


def title(info):
    return "optim." + info.optim_cls.__name__


def parameters(shapes, dtype):
    noise = torch.Generator().manual_seed(3)
    theirs = [torch.randn(s, generator=noise, dtype=dtype).requires_grad_() for s in shapes]
    return theirs, [Carrier().tensor(p) for p in theirs]


def carried_gradient(g):
    if g.layout == torch.strided:
        return Carrier().tensor(g)
    parts = (Carrier().tensor(part) for part in (g._indices(), g._values()))
    return rushlight.sparse_coo_tensor(*parts, tuple(g.shape))


def attempt(call):
    try:
        return call(), None
    except Exception as error:  # whatever an optimizer may raise is an outcome
        return None, error


class OptimizerCampaign:
    """All sets of arguments of a row."""

    def __init__(self, info):
        self.info, self.cls = info, ours(info)
        self.report = Report("optim." + info.optim_cls.__name__)

    def run(self):
        if self.cls is None:
            return None
        for dtype in (torch.float32, torch.float64):
            for given in self.info.optim_inputs_func(device="cpu"):
                self.sample(given.kwargs, f"{dtype} {given.desc}", dtype)
        self.errors()
        return self.report

    def sample(self, kwargs, what, dtype):
        self.report.samples += 1
        try:
            self.compare(kwargs, dtype)
            self.report.passed += 1
        except Untransferable:
            self.report.samples -= 1
            self.report.skipped += 1
        except Difference as difference:
            self.report.fail(what, difference)
        except Exception as error:  # a result that cannot even be read is a failure
            self.report.fail(what, f"{type(error).__name__}: {error}")

    def compare(self, kwargs, dtype):
        # Muon takes matrices only.
        shapes = SHAPES if self.info.optim_cls.__name__ != "Muon" else ((3, 4), (5, 2))
        theirs, mine = parameters(shapes, dtype)
        my_kwargs = Carrier().value(kwargs)
        yours, their_error = attempt(lambda: self.info.optim_cls(theirs, **kwargs))
        own, my_error = attempt(lambda: self.cls(mine, **my_kwargs))
        same_refusal(my_error, their_error)
        if their_error is not None:
            return
        noise = torch.Generator().manual_seed(5)
        for i in range(STEPS):
            if i and self.info.step_requires_closure:
                break  # one step is many; near its end only rounding is left
            grads = [torch.randn(p.shape, generator=noise, dtype=dtype) for p in theirs]
            if self.info.only_supports_sparse_grads:
                grads = [g.to_sparse() for g in grads]
            self.step(yours, own, theirs, mine, grads)
        for i, (p, q) in enumerate(zip(theirs, mine, strict=True)):
            slack = SLACK.get((self.info.optim_cls.__name__, dtype), 1)
            worst = same_outcome(q, p, f"parameter {i} ", slack=slack, history=False)
            self.report.worst = max(self.report.worst, worst)
        self.same_state(own.state_dict(), yours.state_dict())

    def step(self, yours, own, theirs, mine, grads):
        carried = [carried_gradient(g) for g in grads]
        if self.info.step_requires_closure:  # a quadratic with the drawn gradients as its slope

            def loss_of(parameters, slopes):
                return sum(((p + g) ** 2).sum() for p, g in zip(parameters, slopes, strict=True))

            def closure(optimizer, parameters, slopes):
                optimizer.zero_grad()
                loss = loss_of(parameters, slopes)
                loss.backward()
                return loss

            yours.step(lambda: closure(yours, theirs, grads))
            own.step(lambda: closure(own, mine, carried))
            return
        for p, q, g, h in zip(theirs, mine, grads, carried, strict=True):
            p.grad, q.grad = g, h
        yours.step()
        own.step()

    def same_state(self, mine, theirs):
        for a, b in zip(mine["param_groups"], theirs["param_groups"], strict=True):
            if list(a) != list(b):
                raise Difference(f"param_groups have {list(a)}, torch's {list(b)}")
        if sorted(mine["state"]) != sorted(theirs["state"]):
            raise Difference(f"state of {sorted(mine['state'])}, torch's {sorted(theirs['state'])}")
        for i in theirs["state"]:
            a, b = mine["state"][i], theirs["state"][i]
            if set(a) != set(b):
                raise Difference(f"state has {sorted(a)}, torch's {sorted(b)}")
            # L-BFGS keeps numbers where torch keeps tensors of one.
            for name in sorted(set(b) - {"al", "d", "ro", "H_diag", "t", "prev_loss"}):
                same_outcome(a[name], b[name], f"state {name} ", history=False)

    def errors(self):
        for case in self.info.optim_error_inputs_func(device="cpu", dtype=torch.float32):
            given = case.optimizer_error_input
            self.report.samples += 1
            try:
                carrier = Carrier()
                params, kwargs = carrier.value(given.params), carrier.value(given.kwargs)
            except Untransferable:
                self.report.samples -= 1
                self.report.skipped += 1
                continue
            _, theirs = attempt(lambda g=given: self.info.optim_cls(g.params, **g.kwargs))
            _, mine = attempt(lambda p=params, k=kwargs: self.cls(p, **k))
            try:
                same_refusal(mine, theirs)
                self.report.passed += 1
            except Difference as difference:
                self.report.fail(f"error {given.desc}", difference)


def run(info, limit=None):
    """The report of one row; None where rushlight has no optimizer of the name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return OptimizerCampaign(info).run()
