"""SyncBatchNorm between real processes: BatchNorm on the whole batch is the measure."""

import pytest

import rushlight
import rushlight.distributed as dist
from rushlight import nn
from tests.distributed.worlds import run

pytestmark = pytest.mark.gloo
SHARES = {2: ((3, 5), (8, 0), (1, 1)), 3: ((2, 0, 4),)}


def whole(kind, shape, dtype, **options):
    """BatchNorm and its input, the same on all ranks."""
    rushlight.manual_seed(3)
    layer = kind(shape[1], dtype=dtype, **options)
    if layer.weight is not None:
        layer.weight.data.normal_()
        if layer.bias is not None:
            layer.bias.data.normal_()
    return layer, (rushlight.randn(shape) * 3 + 5).to(dtype), rushlight.randn(shape).to(dtype)


def compare(rank, shares, kind, tail, dtype=rushlight.float64, **options):
    """The largest differences between this rank's part and BatchNorm on the whole."""
    plain, x, weights = whole(kind, (sum(shares), *tail), dtype, **options)
    synced = nn.SyncBatchNorm.convert_sync_batchnorm(
        nn.Sequential(whole(kind, (sum(shares), *tail), dtype, **options)[0])
    )[0]
    assert type(synced) is nn.SyncBatchNorm
    start = sum(shares[:rank])
    own = slice(start, start + shares[rank])
    x.requires_grad_()
    part = x.detach()[own].clone().requires_grad_()
    for _ in range(2):
        expected = plain(x)
        found = synced(part)
        (expected * weights).sum().backward()
        (found * weights[own]).sum().backward()
    pairs = [(found, expected[own]), (part.grad, x.grad[own])]
    for name in ("running_mean", "running_var"):
        if getattr(plain, name) is not None:
            pairs.append((getattr(synced, name), getattr(plain, name)))
    for name in ("weight", "bias"):
        if getattr(plain, name) is not None:
            total = getattr(synced, name).grad.clone()
            dist.all_reduce(total)
            pairs.append((total, getattr(plain, name).grad))
    if plain.track_running_stats:
        assert plain.num_batches_tracked.equal(synced.num_batches_tracked)
        pairs.append((synced.eval()(part), plain.eval()(x)[own]))
    assert all(a.dtype == b.dtype and a.shape == b.shape for a, b in pairs)
    return max((a - b).abs().max().item() for a, b in pairs if a.numel())


def comparisons(rank, size):
    worst = 0.0
    for shares in SHARES[size]:
        worst = max(worst, compare(rank, shares, nn.BatchNorm2d, (3, 2, 2)))
    shares = SHARES[size][0]
    worst = max(worst, compare(rank, shares, nn.BatchNorm1d, (4,), momentum=None))
    worst = max(worst, compare(rank, shares, nn.BatchNorm1d, (4, 3), affine=False))
    worst = max(worst, compare(rank, shares, nn.BatchNorm1d, (4,), bias=False))
    worst = max(worst, compare(rank, shares, nn.BatchNorm1d, (4,), track_running_stats=False))
    half = compare(rank, shares, nn.BatchNorm1d, (2,), rushlight.bfloat16)
    return worst, half


@pytest.mark.parametrize("size", [2, 3])
def test_batchnorm_on_the_whole_batch(size):
    for worst, half in run(comparisons, size):
        assert worst < 1e-10 and half < 0.2


def in_ddp(rank, size):
    """With DistributedDataParallel, against one process with the whole batch; groups; errors."""
    rushlight.manual_seed(0)
    plain = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    synced = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(*plain))
    synced.load_state_dict(plain.state_dict())
    model = nn.parallel.DistributedDataParallel(synced)
    x = rushlight.randn(8, 3)
    plain = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    plain.load_state_dict({k[7:]: v for k, v in model.state_dict().items()})
    plain(x).mean().backward()
    model(x[4 * rank : 4 * rank + 4]).mean().backward()
    pairs = zip(model.parameters(), plain.parameters(), strict=True)
    worst = max((a.grad - b.grad).abs().max().item() for a, b in pairs)
    alone = [dist.new_group([r]) for r in range(size)][rank]
    layer = nn.SyncBatchNorm(3, process_group=alone)
    different = layer(x[4 * rank : 4 * rank + 4]).mean(0).abs().max().item()  # its own mean is 0
    found = []
    for call in (
        lambda: nn.SyncBatchNorm(3)(rushlight.ones(3)),
        lambda: nn.SyncBatchNorm(0)(rushlight.ones(3, 0)),
        lambda: nn.SyncBatchNorm(4)(rushlight.ones(3, 3)),
        lambda: layer(rushlight.ones(1, 3)),
    ):
        with pytest.raises((ValueError, RuntimeError)) as caught:
            call()
        found.append(str(caught.value).splitlines()[0])
    return worst, different, found


def test_in_ddp():
    for worst, different, found in run(in_ddp):
        assert worst < 1e-6 and different < 1e-6
        assert found[0] == "expected at least 2D input (got 1D input)"
        assert found[1] == "SyncBatchNorm number of input channels should be non-zero"
        assert found[2] == "running_mean should contain 3 elements not 4"
        assert "Expected more than 1 value per channel when training" in found[3]
