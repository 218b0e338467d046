"""When the host waits for a GPU, and what waits for what there. On the emulated provider, whose
streams do nothing before the host waits for them (RUSHLIGHT_EMULATED_LAZY): a missing wait is NaN.
"""

import textwrap

import pytest

from tests.devices.test_provider import run

pytestmark = pytest.mark.emulated

PRELUDE = """
import ctypes, os
import rushlight as torch
from rushlight import nn
library = ctypes.CDLL(os.environ["RUSHLIGHT_CUDA_LIBRARY"])
library.emulated_waits.restype = ctypes.c_uint64

class waits:
    '''How often the host waits inside.'''
    def __init__(self, wanted):
        self.wanted = wanted
    def __enter__(self):
        self.before = library.emulated_waits()
    def __exit__(self, *error):
        got = library.emulated_waits() - self.before
        assert error[0] or got == self.wanted, f"{got} waits, not {self.wanted}"
"""


def lazily(program):
    """Runs it on streams that do nothing before the host waits, with the pool, which frees in the
    order of a stream."""
    environment = {"RUSHLIGHT_EMULATED_LAZY": "1", "RUSHLIGHT_NO_CACHE": ""}
    run(PRELUDE + textwrap.dedent(program), **environment)


def test_operations_do_not_wait():
    lazily("""
        x = torch.randn(64, 32, device="cuda", requires_grad=True)
        w = torch.randn(16, 32, device="cuda", requires_grad=True)
        targets = torch.randint(16, (64,), device="cuda")
        torch.cuda.synchronize()
        with waits(0):
            y = nn.functional.layer_norm((x * 2 + x[:, :1]).relu().t().contiguous().t(), (32,))
            y = nn.functional.dropout(y @ w.t(), 0.1)
            loss = nn.functional.cross_entropy(y.softmax(1).cumsum(1), targets)
            loss.backward()
            torch.optim.Adam([x, w], lr=0.1).step()
            torch.cat([x, x.flip(0)]).topk(3).values.sort(1)
            x.index_select(0, targets).masked_fill(x > 0, 1.0).sum(0).argmax()
            nn.functional.embedding_bag(targets.reshape(8, 8), w, mode="sum").sum().backward()
            steps = torch.arange(3, 9, 2, device="cuda"), torch.linspace(0, 1, 3, device="cuda")
        with waits(1):
            assert loss.item() > 0
        assert steps[0].tolist() == [3, 5, 7] and steps[1].tolist() == [0, 0.5, 1]
    """)


def test_what_waits_waits_once():
    lazily("""
        x, mask = torch.arange(12.0, device="cuda"), torch.arange(12, device="cuda") % 5 == 2
        square = torch.eye(4, device="cuda") * 2
        steps = torch.arange(12, dtype=torch.int32, device="cuda")
        two = torch.tensor(2, device="cuda")
        torch.cuda.synchronize()
        for f in (
            lambda: torch.nonzero(mask), lambda: x[mask], lambda: torch.masked_select(x, mask),
            lambda: torch.unique(steps), lambda: torch.equal(x, x), lambda: steps // (steps + 1),
            lambda: torch.linalg.inv(square), lambda: torch.linalg.eigh(square),
        ):
            with waits(1):
                f()
        with waits(0):  # a 0-d integer of a GPU among integers of another dtype stays there
            for f in (lambda: steps + two, lambda: two * steps, lambda: steps == two):
                f()
            nn.init.orthogonal_(torch.empty(5, 3, device="cuda"))
        assert (steps + two).dtype == torch.int32
        assert (two - steps).tolist() == list(range(2, -10, -1))
        small = torch.tensor([3, 200], dtype=torch.uint8, device="cuda")
        assert (small + torch.tensor(300, device="cuda")).tolist() == [47, 244]
        assert (small > torch.tensor(300, device="cuda")).tolist() == [False, True]  # of 44
        assert torch.nonzero(mask).tolist() == [[2], [7]] and x[mask].tolist() == [2, 7]
        assert torch.nonzero(mask.reshape(3, 4)).tolist() == [[0, 2], [1, 3]]
    """)


def test_other_threads_run_while_one_waits():
    """Also where little is copied: what was given to the GPU before may take long."""
    lazily("""
        import threading, time
        ticks, stop = [], False
        def tick():
            while not stop:
                ticks.append(time.perf_counter())
                time.sleep(0.001)
        big, few = torch.rand(1_000_000, device="cuda"), torch.arange(1, 4, device="cuda")
        host, pinned = torch.empty(3), torch.arange(3.0).pin_memory()
        torch.cuda.synchronize()
        thread = threading.Thread(target=tick)
        thread.start()
        calls = {
            "item": lambda: few[0].item(), "cpu": lambda: few.cpu(), "tolist": lambda: few.tolist(),
            "copy_": lambda: host.copy_(few), "to": lambda: pinned.to("cuda"),
            "nonzero": lambda: torch.nonzero(few), "equal": lambda: torch.equal(few, few + 1),
            "unique": lambda: torch.unique(few), "division": lambda: few // few,
            "searchsorted": lambda: torch.searchsorted(few, few, sorter=few - 1),
            "multinomial": lambda: torch.multinomial(few.float(), 2, replacement=True),
            "synchronize": lambda: torch.cuda.synchronize(),
        }
        held = []
        for name, call in calls.items():
            slow = big
            for _ in range(4):
                slow = slow.exp().log()
            start = time.perf_counter()
            call()
            end = time.perf_counter()
            if sum(start < t < end for t in ticks) < (end - start) / 0.02:
                held.append((name, end - start))
        stop = True
        thread.join()
        assert not held, held
    """)


def test_a_result_is_the_only_allocation():
    lazily("""
        def allocations(f):
            before = torch.cuda.memory_stats()["allocation.all.allocated"]
            kept = f()
            return torch.cuda.memory_stats()["allocation.all.allocated"] - before

        x, y = torch.randn(8, 6, device="cuda"), torch.arange(6, device="cuda")
        turned, wide = torch.randn(6, 8, device="cuda").t(), x.double()
        for f in (
            lambda: x + 1, lambda: x * turned, lambda: x + y, lambda: x[::2] - turned[1::2],
            lambda: torch.where(x > 0, x, 0.0) is None, lambda: wide / x, lambda: x.exp(),
            lambda: x.to(torch.bfloat16), lambda: x.sum(1), lambda: x.softmax(0),
            lambda: torch.arange(9, device="cuda"), lambda: torch.linspace(0, 1, 9, device="cuda"),
        ):
            count = allocations(f)
            assert count == (2 if f() is False else 1), count
        assert allocations(lambda: x.add_(1)) == 0
    """)


def test_copies_wait_only_for_the_host():
    lazily("""
        pageable, pinned = torch.arange(1000.0), torch.arange(1000.0).pin_memory()
        there = torch.zeros(1000, device="cuda")
        with waits(0):
            a = pageable.to("cuda")
        pageable.zero_()  # it was read
        with waits(0):
            b = pinned.to("cuda", non_blocking=True)
            there.copy_(pinned, non_blocking=True)
        with waits(1):
            c = pinned.to("cuda")
        with waits(1):
            assert a.tolist() == torch.arange(1000.0).tolist()
        for t in (b, c, there):
            assert t.tolist() == torch.arange(1000.0).tolist()
        with waits(0):  # what a copy reads is not given back before it has been read
            late = torch.arange(1000.0).pin_memory().to("cuda", non_blocking=True)
        assert late.sum().item() == 499500
        by_another_name = torch.from_numpy(pinned.numpy())
        with waits(1):
            d = by_another_name.to("cuda")
        by_another_name.zero_()
        assert d.sum().item() == 499500
        with waits(1):
            d.to("cpu", non_blocking=True)  # what is returned is there
    """)


def test_devices_wait_for_each_other():
    lazily("""
        side = torch.cuda.Stream("cuda:0")
        with torch.cuda.stream(side):
            x = torch.arange(1000.0, device="cuda:0") * 2
        with waits(0):
            with torch.cuda.stream(side):
                y = (x + 1).to("cuda:1")
            back = (y * 3).to("cuda:0")
            for _ in range(3):  # memory that is given back while it is being read
                y = (y + 1).to("cuda:0").to("cuda:1")
        expected = [2.0 * i + 1 for i in range(1000)]
        assert back.tolist() == [3 * v for v in expected]
        assert y.tolist() == [v + 3 for v in expected]
    """)


def test_memory_goes_in_the_order_of_its_stream():
    lazily("""
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            x = torch.arange(1000.0, device="cuda")
            y = x * 2
            del x
        torch.cuda.default_stream().synchronize()
        side.synchronize()
        assert y.sum().item() == 999000
    """)


@pytest.mark.parametrize("nccl", [True, False])
def test_replicas_work_beside_each_other(nccl):
    lazily(
        ("" if nccl else "os.environ['RUSHLIGHT_NCCL_LIBRARY'] = 'none'")
        + """
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
        x, y = torch.randn(8, 6), torch.randn(8, 3)
        expected = nn.functional.mse_loss(net(x), y)
        expected.backward()
        gradients = [p.grad.clone() for p in net.parameters()]
        net.zero_grad()
        net, x, y = nn.DataParallel(net.to("cuda:0"), [0, 1]), x.to("cuda:0"), y.to("cuda:0")
        optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
        for _ in range(2):
            optimizer.zero_grad()
            with waits(0):  # the whole step, on both
                loss = nn.functional.mse_loss(net(x), y)
                loss.backward()
                optimizer.step()
            assert abs(loss.item() - expected.item()) < 1e-5
            for p, g in zip(net.parameters(), gradients):
                assert torch.allclose(p.grad.cpu(), g, atol=1e-6)
    """.replace("\n        ", "\n")
    )


def test_a_bad_index_of_another_device_is_raised_too():
    lazily("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(4, 3)
            def forward(self, x):
                return self.table(x)

        net = nn.DataParallel(Net().to("cuda:0"), [0, 1])
        out = net(torch.tensor([0, 1, 2, 9], device="cuda:0"))
        try:
            out.sum().item()
            raise SystemExit("not raised")
        except IndexError as error:
            assert "cuda:1" in str(error), error
        assert net(torch.tensor([0, 1, 2, 3], device="cuda:0")).shape == (4, 3)
        assert torch.ones(3, device="cuda:1").sum().item() == 3
    """)
