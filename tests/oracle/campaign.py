"""One row of torch's table on both sides: function, method, in-place method, out=, gradients."""

import contextlib
import warnings
from dataclasses import dataclass, field

import torch

import rushlight
from tests.oracle import ops
from tests.oracle.compare import Difference, same_outcome, same_values, wide
from tests.oracle.settle import settled
from tests.oracle.transfer import Carrier, Untransferable, is_on_cpu, leaves, to_torch

NOISE = 1e-12  # of a second derivative that is 0, and that the other side did not compute
DTYPES = (
    *(torch.float32, torch.float64, torch.bfloat16, torch.complex64),
    *(torch.int64, torch.bool),
)


@dataclass
class Report:
    """What one row came to."""

    name: str
    samples: int = 0
    passed: int = 0
    skipped: int = 0
    worst: float = 0.0
    worst_grad: float = 0.0
    failures: list = field(default_factory=list)

    def fail(self, what, error):
        self.failures.append((what, str(error).split("\n")[0][:200]))


def outcome(call, args, kwargs):
    """(value, None) or (None, exception)."""
    torch.manual_seed(7)
    rushlight.manual_seed(7)
    try:
        return call(*args, **kwargs), None
    except Exception as error:  # whatever a call may raise is an outcome
        return None, error


def same_refusal(ours, theirs):
    """Both raised, or neither; and ours is of torch's type."""
    if ours is None and theirs is None:
        return
    if "INTERNAL ASSERT FAILED" in str(theirs):
        raise Untransferable("torch's own mistake")
    if "storage that is not resizable" in str(theirs):
        raise Untransferable("memory of another owner")  # carried, it is ours
    if theirs is None and not is_on_cpu() and is_of_gpus(ours):
        raise Untransferable("refused on GPUs, as torch does there")
    if ours is None:
        raise Difference(f"torch raises {type(theirs).__name__}: {theirs}")
    if theirs is None:
        raise Difference(f"raises {type(ours).__name__}: {ours}")
    # torch's Python layer and its core do not agree among themselves on these two.
    kinds = (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError)
    expected = next((k for k in kinds if isinstance(theirs, k)), Exception)
    if not isinstance(ours, expected) and not isinstance(theirs, NotImplementedError):
        raise Difference(f"{type(ours).__name__} for torch's {type(theirs).__name__}: {ours}")
    if not str(ours):
        raise Difference("an error without words")


def is_of_gpus(error):
    """What torch refuses too, on a GPU: windows and convolutions of whole numbers, sections that
    lie on a device, histograms."""
    return "not implemented for '" in str(error) or "to be on cpu" in str(error)


def doubled(x):
    """A sample's argument in float64, for the truth behind a float32 result."""
    if isinstance(x, torch.Tensor):
        return wide(x.detach()) if x.dtype.is_floating_point or x.is_complex() else x
    if isinstance(x, (list, tuple)) and not isinstance(x, torch.Size):
        return type(x)(doubled(item) for item in x)
    if isinstance(x, torch.dtype):
        return torch.float64 if x.is_floating_point else x
    return x


class Campaign:
    """Runs the samples of a row; `limit` thins them, evenly, per dtype."""

    def __init__(self, op, limit=None):
        self.op, self.limit = op, limit
        self.report = Report(ops.title(op))
        self.drawn = op.name in ops.DRAWN and not is_on_cpu()
        values = op.name not in {*ops.UNWRITTEN, *ops.ROUGH} and not self.drawn
        self.same = {"values": values, "strides": op.name not in ops.OTHER_STRIDES}

    def run(self, dtypes=DTYPES):
        self.call = ops.ours(self.op)
        if self.call is ops.ABSENT:
            return None
        for dtype in dtypes:
            # Vectors are given torch's phases by arithmetic, which on a GPU loses the strides.
            phases = ops.OPEN_PHASE if is_on_cpu() else {*ops.OPEN_PHASE, *ops.VECTORS}
            is_open = dtype.is_complex and self.op.name in phases
            if dtype in self.op.dtypes and not is_open:
                for sample in self.samples(dtype):
                    self.sample(sample, dtype)
        self.errors()
        return self.report

    def samples(self, dtype):
        grad = self.op.supports_autograd and dtype in self.op.supported_backward_dtypes("cpu")
        samples = list(self.op.sample_inputs("cpu", dtype, requires_grad=grad))
        if self.limit and len(samples) > self.limit:
            step = len(samples) / self.limit
            samples = [samples[int(i * step)] for i in range(self.limit)]
        for sample in samples:
            yield sample
            if dtype == torch.float32:
                with contextlib.suppress(Exception):
                    yield sample.noncontiguous()

    def sample(self, sample, dtype):
        operands = (sample.input, *sample.args)
        self.report.samples += 1
        failures = len(self.report.failures)
        try:
            theirs = self.function(operands, sample.kwargs, dtype)
            if theirs is not None:
                self.method(operands, sample.kwargs, theirs, dtype)
                self.in_place(sample, operands, dtype)
                self.out(operands, sample.kwargs, theirs, dtype)
        except Untransferable:
            self.report.samples -= 1
            self.report.skipped += 1
            return
        self.report.passed += len(self.report.failures) == failures

    def check(self, what, compare):
        try:
            return compare()
        except Difference as difference:
            self.report.fail(what, difference)
        except Untransferable:
            raise
        except Exception as error:  # a result that cannot even be read is a failure
            self.report.fail(what, f"{type(error).__name__} in the comparison: {error}")
        return None

    def function(self, operands, kwargs, dtype):
        """Compares the function and its gradients; returns torch's result, None if it raised."""
        carrier = Carrier()
        args, names = carrier.value(operands), carrier.value(kwargs)
        mine = outcome(self.call, args, names)
        yours = outcome(self.op.op, operands, kwargs)
        what = f"{dtype} {describe(operands, kwargs)}"[:160]

        def compare():
            same_refusal(mine[1], yours[1])
            if yours[1] is not None:
                return
            self.exact_args = (operands, kwargs)
            mine_in_order = settled(self.op, mine[0], yours[0], operands, kwargs)
            worst = same_outcome(mine_in_order, yours[0], exact=self.exact, **self.same)
            self.report.worst = max(self.report.worst, worst)
            after = [x for x in leaves([operands, kwargs]) if isinstance(x, torch.Tensor)]
            mine_after = [x for x in leaves([args, names]) if isinstance(x, rushlight.Tensor)]
            for x, ours in zip(after, () if self.drawn else mine_after, strict=False):
                same_values(to_torch(ours), x.detach(), "operand afterwards")
            if mine_in_order is mine[0] and not (self.drawn or self.op.name in ops.OPEN_GRADIENT):
                self.gradients(carrier, mine[0], yours[0])

        self.check(what, compare)
        return yours[0] if yours[1] is None else None

    def exact(self, i):
        operands, kwargs = self.exact_args
        kwargs = {key: doubled(x) for key, x in kwargs.items()}
        value, error = outcome(self.op.op, doubled(operands), kwargs)
        return None if error else leaves(value)[i]

    def exact_gradients(self, seeds, leaf_count):
        """torch's gradients with every float operand in float64; None where it cannot."""
        operands, kwargs = self.exact_args
        inputs = []

        def leaf(x):
            if isinstance(x, torch.Tensor) and x.requires_grad:
                inputs.append(wide(x.detach()).requires_grad_())
                return inputs[-1]
            if isinstance(x, (list, tuple)) and not isinstance(x, torch.Size):
                return type(x)(leaf(item) for item in x)
            return doubled(x)

        operands = leaf(operands)
        value, error = outcome(self.op.op, operands, {key: leaf(x) for key, x in kwargs.items()})
        if error or len(inputs) != leaf_count:
            return None
        results = [x for x in leaves(value) if isinstance(x, torch.Tensor) and x.requires_grad]
        grads, error = outcome(
            torch.autograd.grad,
            (results, inputs),
            {
                "grad_outputs": [s.to(x.dtype) for s, x in zip(seeds, results, strict=False)],
                "allow_unused": True,
            },
        )
        return None if error else grads

    def gradients(self, carrier, mine, yours):
        pairs = [
            (a, b)
            for a, b in zip(leaves(mine), leaves(yours), strict=False)
            if isinstance(b, torch.Tensor) and b.requires_grad
        ]
        if not pairs or not carrier.leaves:
            return
        noise = torch.Generator().manual_seed(11)
        seeds = [
            torch.randn(b.shape, generator=noise, dtype=wide(b.detach()).dtype) for _, b in pairs
        ]
        twice = self.op.supports_gradgrad and pairs[0][1].dtype in (torch.float64, torch.complex128)
        their_seeds = [s.to(b.dtype) for s, (_, b) in zip(seeds, pairs, strict=False)]
        our_seeds = [Carrier().tensor(s) for s in their_seeds]
        for seed in (*their_seeds, *our_seeds) if twice else ():
            seed.requires_grad_()
        theirs = outcome(
            torch.autograd.grad,
            ([b for _, b in pairs], [t for t, _ in carrier.leaves]),
            {"grad_outputs": their_seeds, "allow_unused": True, "create_graph": twice},
        )
        ours = outcome(
            rushlight.autograd.grad,
            ([a for a, _ in pairs], [t for _, t in carrier.leaves]),
            {"grad_outputs": our_seeds, "allow_unused": True, "create_graph": twice},
        )
        try:
            same_refusal(ours[1], theirs[1])
        except Difference as difference:
            raise Difference(f"backward: {difference}") from None
        for i, (a, b) in enumerate(zip(ours[0] or (), theirs[0] or (), strict=False)):
            if (a is None) != (b is None):
                # torch fills in zeros where nothing flows, or leaves None; both say the same.
                present = b if a is None else to_torch(a)
                if not present.any():
                    continue
                raise Difference(f"grad {i} is {a}, torch's {b}"[:150])
            if a is None:
                continue
            if tuple(a.shape) != tuple(b.shape):
                raise Difference(f"grad {i} has shape {tuple(a.shape)}, torch's {tuple(b.shape)}")

            def exact(i=i):
                # The seeds as the dtype under test rounds them, or the truth is another one.
                rounded = [wide(s.to(y.dtype)) for s, (_, y) in zip(seeds, pairs, strict=False)]
                grads = self.exact_gradients(rounded, len(carrier.leaves))
                return None if grads is None else grads[i]

            error = same_values(
                to_torch(a.detach()), b.detach(), f"grad {i}", slack=10, exact=exact
            )
            self.report.worst_grad = max(self.report.worst_grad, error)
        if twice and theirs[1] is None:
            self.second_gradients(
                zip(ours[0], theirs[0], strict=False),
                [t for _, t in carrier.leaves] + our_seeds,
                [t for t, _ in carrier.leaves] + their_seeds,
            )

    def second_gradients(self, pairs, our_inputs, their_inputs):
        """The gradients of the gradients, by the operands and by the seeds, in float64."""
        pairs = [
            (a, b)
            for a, b in pairs
            if b is not None and b.requires_grad and b.numel() and b.dtype == torch.float64
        ]
        if not pairs:
            return
        if not all(a is not None and a.requires_grad for a, _ in pairs):
            raise Difference(
                "a gradient made with create_graph=True has no history, unlike torch's"
            )
        noise = torch.Generator().manual_seed(13)
        along = [torch.randn(b.shape, generator=noise, dtype=b.dtype) for _, b in pairs]
        theirs, refused = outcome(
            torch.autograd.grad,
            ([b for _, b in pairs], their_inputs, along),
            {"allow_unused": True},
        )
        if refused:  # torch's own backward has no gradient here
            return
        ours, error = outcome(
            rushlight.autograd.grad,
            ([a for a, _ in pairs], our_inputs, [Carrier().tensor(v) for v in along]),
            {"allow_unused": True},
        )
        if error:
            raise Difference(f"second backward raises {type(error).__name__}: {error}")
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if a is None or b is None:
                present = b if a is None else to_torch(a)
                if present is not None and (present.abs() > NOISE).any():
                    raise Difference(f"second grad {i} is {a}, torch's {b}"[:150])
                continue
            error = same_values(to_torch(a), b, f"second grad {i}", slack=1000)
            self.report.worst_grad = max(self.report.worst_grad, error)

    def method(self, operands, kwargs, theirs, dtype):
        method = ops.variant(self.op.get_method())
        if method is None or method is self.call or not isinstance(operands[0], torch.Tensor):
            return
        what = f"method {dtype} {describe(operands, kwargs)}"[:160]
        if method is ops.ABSENT:
            self.report.fail(f"method {dtype}", f"Tensor.{self.op.get_method().__name__} is absent")
            return
        yours = outcome(self.op.get_method(), operands, kwargs)
        carrier = Carrier()
        mine = outcome(method, carrier.value(operands), carrier.value(kwargs))

        def compare():
            same_refusal(mine[1], yours[1])
            if yours[1] is None:
                result = settled(self.op, mine[0], yours[0], operands, kwargs)
                same_outcome(result, yours[0], exact=self.exact, **self.same)

        self.check(what, compare)

    def in_place(self, sample, operands, dtype):
        theirs = self.op.get_inplace()
        method = ops.variant(theirs)
        if method is None or not isinstance(operands[0], torch.Tensor):
            return
        if sample.broadcasts_input:  # torch refuses, or gives self another size
            return
        what = f"in place {dtype} {describe(operands, sample.kwargs)}"[:160]
        if method is ops.ABSENT:
            self.report.fail(f"in place {dtype}", f"Tensor.{theirs.__name__} is absent")
            return
        detached = [x.detach() if isinstance(x, torch.Tensor) else x for x in operands]
        carrier = Carrier()
        args, names = carrier.value(detached), carrier.value(sample.kwargs)
        yours_self = same_layout(detached[0])
        yours = outcome(theirs, (yours_self, *detached[1:]), sample.kwargs)
        mine = outcome(method, args, names)

        def compare():
            same_refusal(mine[1], yours[1])
            if yours[1] is None:
                both = {"values": not self.drawn, "history": False, "exact": self.exact}
                same_outcome(mine[0], yours[0], **both)
                same_outcome(args[0], yours_self, "self, ", **both)

        self.check(what, compare)

    def out(self, operands, kwargs, theirs, dtype):
        """`out=` given fresh tensors of torch's result."""
        if not self.op.supports_out or dtype != torch.float32 or "out" in kwargs:
            return
        detached = [x.detach() if isinstance(x, torch.Tensor) else x for x in operands]
        if isinstance(operands[0], (list, tuple)):
            detached[0] = [x.detach() if isinstance(x, torch.Tensor) else x for x in operands[0]]
        if not all(isinstance(x, torch.Tensor) for x in leaves(theirs)):
            return
        carrier = Carrier()
        plain = {k: v.detach() if isinstance(v, torch.Tensor) else v for k, v in kwargs.items()}
        args, names = carrier.value(detached), carrier.value(plain)
        blank = carrier.value([torch.empty_like(x, requires_grad=False) for x in leaves(theirs)])
        given = tuple(blank) if isinstance(theirs, (list, tuple)) else blank[0]
        mine = outcome(self.call, args, {**names, "out": given})
        blank = [torch.empty_like(x, requires_grad=False) for x in leaves(theirs)]
        its_out = tuple(blank) if isinstance(theirs, (list, tuple)) else blank[0]
        yours = outcome(self.op.op, detached, {**plain, "out": its_out})

        def compare():
            same_refusal(mine[1], yours[1])
            if yours[1] is not None:
                return
            result = settled(self.op, mine[0], yours[0], detached, plain)
            if result is not mine[0]:
                return
            same_outcome(mine[0], yours[0], history=False, exact=self.exact, **self.same)
            same_outcome(given, its_out, history=False, exact=self.exact, **self.same)

        self.check(f"out= {dtype} {describe(operands, kwargs)}"[:160], compare)

    def errors(self):
        """torch's own list of calls that must fail, those that do fail there."""
        if self.op.error_inputs_func is None:
            return
        for case in self.op.error_inputs("cpu"):
            sample = case.sample_input
            operands = (sample.input, *sample.args)
            try:
                carrier = Carrier()
                args, names = carrier.value(operands), carrier.value(sample.kwargs)
            except Untransferable:
                self.report.skipped += 1
                continue
            _, theirs = outcome(self.op.op, operands, sample.kwargs)
            _, mine = outcome(self.call, args, names)
            if theirs is None:
                continue
            if not is_on_cpu() and "cannot be converted to type" in str(theirs):
                continue  # a GPU's number, which the host would have to wait for
            if "some elements of the input tensor and the written-to tensor" in str(theirs):
                continue  # here a result is computed before it is written, and cannot be spoilt
            self.report.samples += 1
            failures = len(self.report.failures)
            what = f"error {describe(operands, sample.kwargs)}"[:160]
            if isinstance(mine, IndexError) and self.op.name in ops.POSITIONS:
                theirs = IndexError(str(theirs))
            try:
                self.check(what, lambda mine=mine, theirs=theirs: same_refusal(mine, theirs))
            except Untransferable:
                self.report.samples -= 1
                self.report.skipped += 1
                continue
            self.report.passed += len(self.report.failures) == failures


def same_layout(x):
    """A copy with its own storage, lying in it as x does."""
    storage = x.untyped_storage().clone()
    return torch.empty(0, dtype=x.dtype).set_(storage, x.storage_offset(), x.size(), x.stride())


def describe(operands, kwargs):
    def text(x):
        if isinstance(x, torch.Tensor):
            kind = str(x.dtype).removeprefix("torch.")
            return f"{kind}{list(x.shape)}"
        if isinstance(x, (list, tuple)):
            return "[" + ", ".join(map(text, x)) + "]"
        return repr(x)

    return ", ".join([*map(text, operands), *(f"{k}={text(v)}" for k, v in kwargs.items())])


def run(op, limit=None, dtypes=DTYPES):
    """The report of one row; None where rushlight has no operation of the name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Campaign(op, limit).run(dtypes)
