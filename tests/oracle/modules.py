"""torch's table of modules on both sides: seeded values, repr, outputs, gradients, buffers, errors.

Our module gets the state of torch's, which it built from the same seed with the same values.
"""

import io
import warnings

import torch
from torch.testing._internal.common_modules import ModuleErrorEnum, module_db

import rushlight
from tests import quick_torch
from tests.oracle.campaign import Report, describe, outcome, same_refusal
from tests.oracle.compare import Difference, same_outcome, same_values
from tests.oracle.transfer import DEVICE, Carrier, Untransferable, is_on_cpu, leaves, to_torch

quick_torch.draw_samples_anywhere()

SEED = 7
# Gradients that are long float32 sums, where two orders of adding differ by more than a rounding:
# how many of torch's tolerances they may be apart. Seen: 2.4 in the convolutions, 7.5 in CTCLoss,
# 1.1 in all others.
SLACK = dict.fromkeys(("nn.Conv3d", "nn.ConvTranspose3d"), 4)
SLACK |= dict.fromkeys(("nn.LazyConv3d", "nn.LazyConvTranspose3d"), 4)
SLACK["nn.CTCLoss"] = 12


class ModuleCarrier(Carrier):
    """Also modules, by their pickles, the functions of nn.functional, and packed sequences."""

    def value(self, x):
        if isinstance(x, torch.nn.Module):
            file = io.BytesIO()
            torch.save(x, file)
            file.seek(0)
            return rushlight.load(file, weights_only=False)
        if isinstance(x, torch.nn.utils.rnn.PackedSequence):
            return rushlight.nn.utils.rnn.PackedSequence(*(self.value(item) for item in x))
        name = getattr(x, "__name__", None)
        if callable(x) and getattr(torch.nn.functional, str(name), None) is x:
            return getattr(rushlight.nn.functional, name)
        return super().value(x)


def ours(info):
    """Our class of a row; None where there is none."""
    return getattr(rushlight.nn, info.module_cls.__name__, None)


def entries(names=()):
    """The rows of those names, with or without "nn."; all of them if none is given."""
    return [m for m in module_db if not names or m.name in names or m.name[3:] in names]


def title(info):
    return info.name


def build(library, cls, args, kwargs):
    library.manual_seed(SEED)
    try:
        return cls(*args, **kwargs), None
    except Exception as error:  # whatever a constructor may raise is an outcome
        return None, error


class ModuleCampaign:
    """All samples of a row, in training and in evaluation."""

    def __init__(self, info, limit=None):
        self.info, self.limit = info, limit
        self.cls = ours(info)
        self.report = Report(info.name)

    def run(self, dtypes=(torch.float32, torch.float64)):
        if self.cls is None:
            return None
        for dtype in dtypes:
            if dtype in self.info.dtypes:
                for training in (True, False):
                    for sample in self.samples(dtype, training):
                        self.sample(sample, dtype, training)
        self.errors()
        return self.report

    def samples(self, dtype, training):
        found = list(
            self.info.module_inputs_func(
                self.info, device="cpu", dtype=dtype, requires_grad=True, training=training
            )
        )
        if self.limit and len(found) > self.limit:
            step = len(found) / self.limit
            found = [found[int(i * step)] for i in range(self.limit)]
        return [sample for sample in found if sample.forward_input is not None]

    def sample(self, sample, dtype, training):
        maker, call = sample.constructor_input, sample.forward_input
        what = f"{dtype} {'train' if training else 'eval'} {describe(maker.args, maker.kwargs)}"
        self.report.samples += 1
        try:
            self.compare(maker, call, dtype, training)
            self.report.passed += 1
        except Untransferable:
            self.report.samples -= 1
            self.report.skipped += 1
        except Difference as difference:
            self.report.fail(what[:160], difference)
        except Exception as error:  # a result that cannot even be read is a failure
            self.report.fail(what[:160], f"{type(error).__name__}: {error}")

    def compare(self, maker, call, dtype, training):
        if self.info.is_lazy and not is_on_cpu():
            raise Untransferable("parameters that are drawn on a GPU")
        carrier = ModuleCarrier()
        args, kwargs = carrier.value(tuple(maker.args)), carrier.value(maker.kwargs)
        if "device" in kwargs:  # both draw parameters on the CPU; ours go to their device later
            kwargs["device"] = "cpu"
        theirs, their_error = build(torch, self.info.module_cls, maker.args, maker.kwargs)
        mine, my_error = build(rushlight, self.cls, args, kwargs)
        same_refusal(my_error, their_error)
        if their_error is not None:
            return
        if repr(mine) != repr(theirs):
            raise Difference(f"prints {mine!r} for torch's {theirs!r}")
        if mine.extra_repr() != theirs.extra_repr():
            raise Difference("extra_repr differs")
        if not self.info.is_lazy:
            same_state(mine, theirs, "new ")
            theirs.to(dtype)
            mine.to(DEVICE[0], carrier.value(dtype))
            mine.load_state_dict(carrier.value(dict(theirs.state_dict())))
        else:
            theirs.to(dtype)
            mine.to(DEVICE[0], carrier.value(dtype))
        theirs.train(training)
        mine.train(training)
        operands, names = tuple(call.args), call.kwargs
        carrier = ModuleCarrier()
        mine_out = outcome(mine, carrier.value(operands), carrier.value(names))
        yours_out = outcome(theirs, operands, names)
        same_refusal(mine_out[1], yours_out[1])
        if yours_out[1] is not None:
            return
        self.report.worst = max(self.report.worst, same_outcome(mine_out[0], yours_out[0]))
        same_state(mine, theirs, "used ")
        self.gradients(carrier, mine, theirs, mine_out[0], yours_out[0])

    def gradients(self, carrier, mine, theirs, my_result, your_result):
        pairs = [
            (a, b)
            for a, b in zip(leaves(my_result), leaves(your_result), strict=False)
            if isinstance(b, torch.Tensor) and b.requires_grad
        ]
        wanted = list(zip(theirs.parameters(), mine.parameters(), strict=True)) + carrier.leaves
        if not pairs or not wanted:
            return
        noise = torch.Generator().manual_seed(11)
        seeds = [torch.randn(b.shape, generator=noise, dtype=torch.float64) for _, b in pairs]
        theirs_grad = torch.autograd.grad(
            [b for _, b in pairs],
            [b for b, _ in wanted],
            [s.to(b.dtype) for s, (_, b) in zip(seeds, pairs, strict=True)],
            allow_unused=True,
        )
        mine_grad = rushlight.autograd.grad(
            [a for a, _ in pairs],
            [a for _, a in wanted],
            [Carrier().tensor(s.to(b.dtype)) for s, (_, b) in zip(seeds, pairs, strict=True)],
            allow_unused=True,
        )
        for i, (a, b) in enumerate(zip(mine_grad, theirs_grad, strict=True)):
            if a is None or b is None:
                present = b if a is None else to_torch(a)
                if present is not None and present.any():
                    raise Difference(f"grad {i} is {a}, torch's {b}"[:150])
                continue
            slack = SLACK.get(self.info.name, 2)
            error = same_values(to_torch(a), b, f"grad {i}", slack=slack)
            self.report.worst_grad = max(self.report.worst_grad, error)

    def errors(self):
        function = self.info.module_error_inputs_func
        if function is None:
            return
        for case in function(
            self.info, device="cpu", dtype=torch.float32, requires_grad=False, training=False
        ):
            maker = case.module_error_input.constructor_input
            call = case.module_error_input.forward_input
            self.report.samples += 1
            carrier = ModuleCarrier()
            try:
                args, kwargs = carrier.value(tuple(maker.args)), carrier.value(maker.kwargs)
            except Untransferable:
                self.report.samples -= 1
                self.report.skipped += 1
                continue
            mine, error = build(rushlight, self.cls, args, kwargs)
            theirs, their_error = build(torch, self.info.module_cls, maker.args, maker.kwargs)
            if error is None:
                mine.to(DEVICE[0])
            if case.error_on == ModuleErrorEnum.FORWARD_ERROR and error is None:
                operands = tuple(call.args)
                _, error = outcome(mine, carrier.value(operands), carrier.value(call.kwargs))
                _, their_error = outcome(theirs, operands, call.kwargs)
            try:
                same_refusal(error, their_error)
                self.report.passed += 1
            except Difference as difference:
                what = f"error {describe(maker.args, maker.kwargs)}"
                self.report.fail(what[:160], difference)


def same_state(mine, theirs, what):
    """State dicts with the same keys, shapes and values."""
    a, b = mine.state_dict(), theirs.state_dict()
    if list(a) != list(b):
        raise Difference(f"{what}state dict has {list(a)}, torch's {list(b)}")
    for name in b:
        same_outcome(a[name], b[name], f"{what}{name} ", history=False)


def run(info, limit=None, dtypes=(torch.float32, torch.float64)):
    """The report of one row; None where rushlight has no module of the name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ModuleCampaign(info, limit).run(dtypes)
