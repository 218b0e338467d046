"""Calls in whose midst a handler of signals, which long work calls, changes what they compute with:
as another thread may, but every time."""

import signal

import rushlight as torch
import rushlight.vision.ops as boxes

F = torch.nn.functional
CALLS = []

# Operands for which each takes tens of milliseconds, and what is computed with them.
LONG = {
    "averages": lambda: (F.adaptive_avg_pool2d, torch.rand(8, 64, 200, 200), (100, 100)),
    "largest": lambda: (F.adaptive_max_pool2d, torch.rand(8, 32, 200, 200), (100, 100)),
    "codes": lambda: (F.max_pool2d, torch.rand(32, 64, 128, 128), 2),
    "windows": lambda: (F.avg_pool3d, torch.rand(4, 16, 32, 64, 64), 2),
    "resampling": lambda: (lambda x, n: F.interpolate(x, n), torch.rand(4, 64, 90, 90), (180, 180)),
    "unfolding": lambda: (F.unfold, torch.rand(4, 16, 128, 128), 3),
    "pairs": lambda: (F.pdist, torch.rand(1500, 64), 1.0),
    "moments": lambda: (torch.var_mean, torch.rand(500, 200, 200), (0, 2)),
    "extremes": lambda: (lambda x, d: torch.aminmax(x, dim=d), torch.rand(500, 200, 200), 1),
    "likelihoods": lambda: (
        F.binary_cross_entropy,
        torch.rand(3000, 1000),
        torch.rand(3000, 1000),
    ),
    "alignment": lambda: (
        lambda x, n: F.ctc_loss(x, n, [200] * 32, [40] * 32),
        torch.rand(200, 32, 500).log_softmax(2),
        torch.randint(1, 500, (32, 40)),
    ),
    "overlaps": lambda: (
        lambda b, s: boxes.nms(b, s, 0.9999) * 0.0,
        torch.rand(5000, 4).cumsum(1),
        torch.rand(5000),
    ),
    "smoothed": lambda: (
        lambda x, n: F.cross_entropy(x.t(), n, label_smoothing=0.1),
        torch.rand(300, 20000),
        torch.randint(0, 300, (20000,)),
    ),
    "rows": lambda: (
        lambda w, n: F.embedding(n, w),
        torch.rand(900, 64),
        torch.randint(0, 900, (300_000,)),
    ),
}


def meanwhile(name, other, moment):
    """A handler of signals, which long work calls, gives the operands other data."""
    function, x, second = LONG[name]()
    x.requires_grad_()
    operands = [t for t in (x, second) if isinstance(t, torch.Tensor)]

    def change(*_):
        for t in operands:
            small = t.detach().flatten()
            t.data = {
                "few": small[:1].clone(),
                "none": small[:0].clone(),
                "narrow": t.detach().to(torch.int8),
                "many": torch.cat([t.detach(), t.detach()]),
            }[other]

    before = signal.signal(signal.SIGALRM, change)
    signal.setitimer(signal.ITIMER_REAL, moment)
    try:
        out = function(x, second)
        for part in out if isinstance(out, tuple) else (out,):
            part.sum().backward(retain_graph=True)
    except (RuntimeError, IndexError, ValueError, TypeError):
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


for _name in LONG:
    for _other in ("few", "none", "narrow", "many"):
        for _moment in (0.002, 0.02):
            CALLS.append(
                (
                    f"a handler changes the operands of {_name}: {_other} after {_moment} s",
                    lambda n=_name, o=_other, m=_moment: meanwhile(n, o, m),
                )
            )
