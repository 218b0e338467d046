"""set_sync_debug_mode(), and the figures of sensors."""

import warnings

import pytest

import rushlight as torch
from rushlight import nn
from tests.conftest import REAL

WAITS = [
    lambda x: x.sum().item(),
    lambda x: x.cpu(),
    lambda x: x.tolist(),
    lambda x: bool(x.sum() > 0),
    lambda x: float(x[0, 0]),
    lambda x: x.nonzero(),
    lambda x: x[x > 0],
    lambda x: torch.ones(3).to(x.device),
    lambda x: x.copy_(torch.ones(2, 3)),
    lambda x: str(x),
    lambda x: x.int() // x.int(),
    lambda x: x.int().remainder_(x.int()),
    lambda x: x.unique(),
    lambda x: x.equal(x.clone()),
    lambda x: torch.searchsorted(x[0], x, sorter=torch.zeros_like(x[0], dtype=torch.int64)),
    lambda x: x.multinomial(2),
    lambda x: x.multinomial(9, replacement=True),
    lambda x: torch.poisson(x),
    lambda x: nn.functional.one_hot(x.long()),
]
WAITS_NOT = [
    lambda x: x.int() // 2,
    lambda x: x / x,
    lambda x: torch.searchsorted(x[0], x),
    lambda x: nn.functional.one_hot(x.long(), 3),
    lambda x: nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True),
    lambda x: nn.functional.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
    lambda x: x.tril() + x.triu(),
    lambda x: nn.functional.rrelu(x, training=True),
    lambda x: torch.unravel_index(x.long(), (3, 4)),
]


@pytest.fixture(autouse=True)
def gpu():
    if REAL:
        yield
    else:
        with torch.cuda.virtual(1):
            yield
    if REAL:
        torch.cuda.set_sync_debug_mode(0)


@pytest.fixture
def mode():
    yield torch.cuda.set_sync_debug_mode
    torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("wait", WAITS)
def test_what_waits_is_said(wait, mode):
    x = torch.ones(2, 3, device="cuda")
    mode("warn")
    assert torch.cuda.get_sync_debug_mode() == 1
    with pytest.warns(UserWarning, match="called a synchronizing CUDA operation"):
        wait(x)
    mode(2)
    with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
        wait(x)
    mode("default")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wait(x)


@pytest.mark.parametrize("call", WAITS_NOT)
def test_what_does_not_wait_is_not_said(call, mode):
    x = torch.ones(2, 3, device="cuda")
    mode("error")
    call(x)


def test_a_training_step_does_not_wait(mode):
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)).to("cuda")
    optimizer = torch.optim.Adam(net.parameters())
    x, y = torch.randn(6, 4, device="cuda"), torch.randint(3, (6,), device="cuda")
    pinned = torch.randn(6, 4).pin_memory()
    mode("error")
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x + pinned.to("cuda", non_blocking=True)), y)
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    torch.ones(2).tolist()  # the host's own
    mode("default")
    assert loss.item() > 0


def test_modes_that_are_not():
    with pytest.raises(RuntimeError, match="expected one of `default`, `warn`, `error`"):
        torch.cuda.set_sync_debug_mode("loud")
    with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
        torch.cuda.set_sync_debug_mode(3)
    assert torch.cuda.get_sync_debug_mode() == 0


def test_figures():
    x = torch.ones(1 << 20, device="cuda")
    assert torch.cuda.device_memory_used() >= x.nbytes
    if not REAL:
        for name in ("utilization", "memory_usage", "temperature", "power_draw", "clock_rate"):
            assert getattr(torch.cuda, name)(0) == 0
