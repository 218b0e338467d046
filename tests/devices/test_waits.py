"""What makes the host wait for a GPU says so, and is in the list of docs/gpu.md: calls of that
list, and torch's own samples, on the emulated provider, which counts the waits.
"""

import pytest

from tests.devices.test_provider import run
from tests.devices.test_waiting import lazily

pytestmark = pytest.mark.emulated

# Operations that wait in one of torch's samples, or whose gradient does.
WAITS = set(
    """
    item nonzero argwhere nonzero_static masked_select index_put __getitem__ narrow
    unique unique_consecutive index_fill allclose equal bincount histc histogram histogramdd
    repeat_interleave searchsorted multinomial bernoulli normal cumprod linalg.vander
    linspace.tensor_overload logspace.tensor_overload cov matrix_exp
    div.floor_rounding div.trunc_rounding floor_divide fmod remainder __rmod__
    index_reduce.mean scatter_reduce.mean to_sparse
    nn.functional.binary_cross_entropy nn.functional.gaussian_nll_loss nn.functional.one_hot
    nn.functional.ctc_loss nn.functional.embedding nn.functional.embedding_bag
    cholesky cholesky_inverse linalg.cholesky linalg.inv linalg.solve linalg.lu_factor lu
    linalg.tensorinv linalg.tensorsolve linalg.matrix_power linalg.eigh linalg.eigvalsh
    linalg.svd svd linalg.svdvals linalg.lstsq linalg.lstsq.grad_oriented
    linalg.pinv linalg.pinv.hermitian linalg.pinv.singular pinverse
    linalg.matrix_rank linalg.matrix_rank.hermitian linalg.cond linalg.norm
    linalg.norm.subgradients_at_zero linalg.matrix_norm norm.nuc pca_lowrank svd_lowrank
    linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve masked.cumprod
    """.split()
)


def test_what_waits_is_reported():
    lazily("""
        F, linalg = nn.functional, torch.linalg
        def on_gpu(values, **named):
            return torch.tensor(values, device="cuda", **named)
        x = torch.rand(4, 4, device="cuda")
        i, mask, one = on_gpu([1, 2, 3, 1]), x > 0.5, on_gpu(1)
        pd = x @ x.mT + 4 * torch.eye(4, device="cuda")
        learns = torch.rand(4, device="cuda", requires_grad=True)
        pinned, host = torch.ones(3).pin_memory(), torch.empty(4, 4)
        table = nn.Embedding(5, 3, max_norm=1.0).cuda()
        bag = nn.EmbeddingBag(5, 3, mode="max").cuda()
        mean = nn.BatchNorm1d(4, momentum=None).cuda()
        layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).cuda()
        encoder = nn.TransformerEncoder(layer, 1)
        causal = torch.full((4, 4), float("-inf"), device="cuda").triu(1)
        classes = nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2]).cuda()
        learns.sum().backward()
        calls = [
            lambda: x[0, 0].item(), lambda: x.tolist(), lambda: x.cpu(), lambda: host.copy_(x),
            lambda: float(one), lambda: bool(one), lambda: pinned.to("cuda"), lambda: x[one],
            lambda: x.narrow(0, one, 1), lambda: torch.full((2,), one, device="cuda"),
            lambda: torch.add(x, x, alpha=one), lambda: torch.linspace(one, 2, 3, device="cuda"),
            lambda: torch.logspace(one, 2, 3, device="cuda"),
            lambda: x.nonzero(), lambda: torch.argwhere(mask), lambda: torch.where(mask),
            lambda: x[mask], lambda: x.masked_select(mask), lambda: mask.nonzero_static(size=3),
            lambda: x.unique(), lambda: i.unique_consecutive(), lambda: torch.equal(x, x),
            lambda: torch.allclose(x, x), lambda: i.bincount(), lambda: x.histc(),
            lambda: torch.histogram(x, 3), lambda: torch.histogramdd(x, [2, 2, 2, 2]),
            lambda: x.repeat_interleave(i, 0), lambda: torch.searchsorted(i, i, sorter=i - 1),
            lambda: x.multinomial(2), lambda: torch.poisson(x), lambda: x.bernoulli(),
            lambda: x.clone().bernoulli_(x), lambda: torch.normal(x, x), lambda: F.one_hot(i),
            lambda: torch.cov(x, fweights=i), lambda: x.matrix_exp(), lambda: table(i),
            lambda: bag(i, i[:1] * 0), lambda: F.binary_cross_entropy(x, x),
            lambda: F.gaussian_nll_loss(x, x, x), lambda: F.ctc_loss(x[:, None].log(), i[None, :2],
                                                                    i[:1] + 3, i[:1]),
            lambda: i // i, lambda: i % i, lambda: i.fmod(i),
            lambda: i.scatter_reduce(0, i - 1, i, "mean"),
            lambda: i.index_reduce(0, i - 1, i, "mean"),
            lambda: x.index_fill(0, i - 1, learns[0]), lambda: learns.cumprod(0).sum().backward(),
            lambda: linalg.inv(pd), lambda: linalg.solve(pd, x), lambda: linalg.cholesky(pd),
            lambda: linalg.lu_factor(pd), lambda: linalg.eigh(pd), lambda: linalg.svd(x),
            lambda: linalg.lstsq(x, x), lambda: linalg.pinv(x), lambda: linalg.matrix_rank(x),
            lambda: torch.fft.fft(x), lambda: torch.fft.irfftn(x),
            lambda: mean(x), lambda: encoder(x[None], mask=causal), lambda: classes(x, i),
            lambda: nn.utils.clip_grad_norm_([learns], 1.0, error_if_nonfinite=True),
            lambda: nn.init.trunc_normal_(torch.empty(9, device="cuda")),
        ]
        for at, call in enumerate(calls):
            torch.cuda.synchronize()
            before = library.emulated_waits()
            call()
            assert library.emulated_waits() > before, f"call {at} does not wait"
            torch.cuda.set_sync_debug_mode("error")
            try:
                call()
            except RuntimeError as error:
                assert "called a synchronizing CUDA operation" in str(error), error
            else:
                raise SystemExit(f"call {at} is not reported")
            finally:
                torch.cuda.set_sync_debug_mode("default")
    """)


def test_nothing_else_waits_in_torchs_samples():
    pytest.importorskip("torch")
    pytest.importorskip("expecttest")
    text = run(
        """
        import ctypes, os, warnings

        for each in "RUSHLIGHT_LAUNCH_BLOCKING", "RUSHLIGHT_NO_CACHE":  # they wait for every call
            os.environ.pop(each, None)
        import torch
        import rushlight
        from tests.oracle import ops, transfer

        transfer.DEVICE[0] = rushlight.device("cuda:1")
        library = ctypes.CDLL(os.environ["RUSHLIGHT_CUDA_LIBRARY"])
        library.emulated_waits.restype = ctypes.c_uint64
        torch.set_num_threads(1)
        warnings.simplefilter("ignore")

        def watched(op, call):
            "The result; prints the name of what waits, and again if that is not reported."
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                before = library.emulated_waits()
                rushlight.cuda.set_sync_debug_mode("warn")
                try:
                    result = call()
                except Exception:  # of samples that we refuse
                    result = None
                rushlight.cuda.set_sync_debug_mode("default")
                if library.emulated_waits() > before:
                    print("waits", ops.title(op))
                    if not any("synchronizing" in str(w.message) for w in said):
                        print("unreported", ops.title(op))
            return result

        def tensors(x):
            if isinstance(x, rushlight.Tensor):
                yield x
            elif isinstance(x, (list, tuple)):
                for y in x:
                    yield from tensors(y)

        def call_once(op, call, sample):
            carrier = transfer.Carrier()
            try:
                args = carrier.value((sample.input, *sample.args))
                named = carrier.value(sample.kwargs)
            except (transfer.Untransferable, RuntimeError):
                return
            rushlight.cuda.synchronize(1)
            result = watched(op, lambda: call(*args, **named))
            dense = (t for t in tensors(result) if t.layout is rushlight.strided)
            if outs := [t for t in dense if t.requires_grad]:
                ones = [rushlight.ones_like(t) for t in outs]
                watched(op, lambda: rushlight.autograd.backward(outs, ones))

        for op in ops.entries():
            call = ops.ours(op)
            for dtype in (torch.float32, torch.int64):
                if call is ops.ABSENT or dtype not in op.dtypes:
                    continue
                learns = dtype.is_floating_point and op.supports_autograd
                samples = list(op.sample_inputs("cpu", dtype, requires_grad=learns))
                for sample in samples[:: max(1, len(samples) // 2)][:3]:
                    call_once(op, call, sample)
        """
    )
    found = {tuple(line.split(" ", 1)) for line in text.splitlines()}
    assert not [name for kind, name in found if kind == "unreported"]
    names = {name for _, name in found}
    assert names <= WAITS, names - WAITS
    assert len(names) > 50
