"""Communication hooks of DistributedDataParallel: the gradients of torch's hooks, and errors."""

import itertools

import pytest

import rushlight
import rushlight.distributed as dist
from tests.conftest import ask
from tests.distributed.worlds import library, run

pytestmark = pytest.mark.gloo


def net(torch):
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(20, 16), nn.Tanh(), nn.Linear(16, 12), nn.Linear(12, 2))


def gradients(register, steps=4, **options):
    """The gradients after some steps of SGD, rounded."""
    torch = library()
    rank = torch.distributed.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(net(torch), **options)
    register(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(5 + rank)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(6, 20)).square().mean().backward()
        optimizer.step()
    return [p.grad.flatten().tolist() for p in model.parameters()]


def torchs_hooks(rank, size):
    torch = library()
    from importlib import import_module

    hooks = import_module(f"{torch.__name__}.distributed.algorithms.ddp_comm_hooks")
    default, sgd = hooks.default_hooks, hooks.powerSGD_hook
    found = {}
    for name in ("allreduce_hook", "fp16_compress_hook", "bf16_compress_hook"):
        hook = getattr(default, name)
        if torch.__name__ == "torch" and "bf16" in name:
            hook = default.allreduce_hook  # its own is refused without NCCL
        found[name] = gradients(lambda m, hook=hook: m.register_comm_hook(None, hook))
    wrapped = default.fp16_compress_wrapper(default.allreduce_hook)
    found["wrapper"] = gradients(lambda m: m.register_comm_hook(None, wrapped), bucket_cap_mb=1e-4)
    kind = hooks.DDPCommHookType.FP16_COMPRESS
    found["by name"] = gradients(
        lambda m: hooks.register_ddp_comm_hook(kind, m), gradient_as_bucket_view=True
    )
    for name, options in {
        "rank 1": {},
        "rank 2": {"matrix_approximation_rank": 2, "min_compression_rate": 1},
        "plain": {"use_error_feedback": False, "warm_start": False, "start_powerSGD_iter": 0},
    }.items():
        state = sgd.PowerSGDState(None, **{"start_powerSGD_iter": 2, **options})
        found[name] = gradients(lambda m, s=state: m.register_comm_hook(s, sgd.powerSGD_hook), 6)
    state = sgd.PowerSGDState(None, 64, start_powerSGD_iter=2)  # of full rank: nothing is lost
    batched = sgd.batched_powerSGD_hook
    if torch.__name__ == "torch":  # its own fails in an assertion of its own
        state, batched = None, default.allreduce_hook
    found["batched"] = gradients(lambda m: m.register_comm_hook(state, batched))
    return found


def test_gradients_are_those_of_torchs_hooks(reference):
    expected = ask(lambda torch: run(torchs_hooks, 2, torch=True))
    ours = run(torchs_hooks, 2)
    assert ours[0] == ours[1]
    for name, mine in ours[0].items():
        close = {"allreduce_hook": 1e-6, "bf16_compress_hook": 4e-3}
        for ours_, theirs in zip(mine, expected[0][name], strict=True):
            assert ours_ == pytest.approx(theirs, rel=1e-3, abs=close.get(name, 1e-3)), name


def matrices(torch):
    torch.manual_seed(0)
    sizes = [20, 16, 4, 4, 4, 2]
    pairs = itertools.pairwise(sizes)
    return torch.nn.Sequential(*[torch.nn.Linear(n, m, bias=False) for n, m in pairs])


def seen_by_a_hook(rank, size):
    """Index, last, sizes of buffer, gradients and parameters of each bucket in three steps."""
    torch = library()
    seen = []

    def hook(state, bucket):
        sizes = [list(each.shape) for each in (bucket.buffer(), *bucket.gradients())]
        names = [state[id(p)] for p in bucket.parameters()]
        seen.append([bucket.index(), bucket.is_last(), sizes, names])
        future = torch.futures.Future()
        future.set_result(bucket.buffer().mul(2))
        return future

    model = torch.nn.parallel.DistributedDataParallel(matrices(torch), bucket_cap_mb=1e-4)
    model.register_comm_hook({id(p): n for n, p in model.named_parameters()}, hook)
    x = torch.ones(2, 20)
    for _ in range(3):
        model.zero_grad()
        model(x).sum().backward()
    plain = matrices(torch)
    plain(x).sum().backward()
    pairs = zip(model.parameters(), plain.parameters(), strict=True)
    return seen, all(torch.equal(a.grad, 2 * b.grad) for a, b in pairs)


def test_what_a_hook_sees(reference):
    """One bucket in the first step, then those of the order in which gradients came."""
    expected = ask(lambda torch: run(seen_by_a_hook, 2, torch=True))
    for mine, theirs in zip(run(seen_by_a_hook, 2), expected, strict=True):
        (seen, doubled), (theirs, _) = mine, theirs
        assert doubled and len(seen) == len(theirs)
        for a, b in zip(seen, theirs, strict=True):
            assert a == b or (b[:2] == [0, True] and a[:2] == b[:2])  # the first one has all


def backward_of(model):
    model(rushlight.ones(1, 2)).sum().backward()


def refused(rank, size):
    Future = rushlight.futures.Future

    def made(hook):
        model = rushlight.nn.parallel.DistributedDataParallel(rushlight.nn.Linear(2, 1))
        model.register_comm_hook(None, hook)
        return model

    def completed(value):
        def hook(state, bucket):
            future = Future()
            future.set_result(value(bucket))
            return future

        return lambda: backward_of(made(hook))

    def annotated(state, bucket: int):
        pass

    def returns(state, bucket: dist.GradBucket) -> int:
        return 0

    def fine(state, bucket: dist.GradBucket) -> Future[rushlight.Tensor]:
        return Future()

    def fails(state, bucket):
        raise ValueError("my own")

    def later(state, bucket):
        return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda f: 1 / 0)

    found = []
    for call in (
        lambda: made(3),
        lambda: made(annotated),
        lambda: made(returns),
        lambda: made(fine).register_comm_hook(None, fine),
        lambda: backward_of(made(lambda state, bucket: 3)),
        completed(lambda bucket: 3),
        completed(lambda bucket: [bucket.buffer()]),
        completed(lambda bucket: bucket.buffer()[:2]),
        completed(lambda bucket: bucket.set_buffer(rushlight.ones(2))),
        lambda: backward_of(made(fails)),
        lambda: backward_of(made(later)),
    ):
        try:
            found.append(call())
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    works = [dist.all_reduce(rushlight.ones(2), async_op=True), dist.barrier(async_op=True)]
    found.append([[t.tolist() for t in work.get_future().wait()] for work in works])
    seen, work = [], dist.all_reduce(rushlight.ones(1), async_op=True)
    chain = work.get_future().then(lambda f: seen.append(f.value()[0].item()))
    chain.add_done_callback(lambda f: seen.append("then"))
    import time

    until = time.monotonic() + 20  # it is called without a wait()
    while len(seen) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    return [*found, seen]


def test_hooks_that_are_refused():
    for words in run(refused):
        expected = [
            "TypeError: Communication hook must be callable.",
            "ValueError: Communication hook: bucket annotation should be dist.GradBucket.",
            "ValueError: Communication hook: return annotation should be",
            "can only be called once",
            "must return a torch.futures.Future object, but got int",
            "must hold a tensor of 3 elements, not int",
            "not list, as of get_future().then(lambda f: f.value()[0])",
            "must hold a tensor of 3 elements, not one of shape [2]",
            "ValueError: set_buffer(): a tensor of 3 elements",
            "ValueError: my own",
            "ZeroDivisionError",
        ]
        for found, part in zip(words, expected, strict=False):
            assert part in found
        assert words[-2:] == [[[[2.0, 2.0]], []], [2.0, "then"]]
