"""What users of DistributedDataParallel complain of: each with words that say what to do.

Numbers are those of the list in the brief of torch.distributed's design: 1 to 14.
"""

import copy
import gc
import io
import warnings

import pytest

import rushlight
import rushlight.distributed as dist
from rushlight import nn
from rushlight.utils.checkpoint import checkpoint
from tests.distributed.worlds import run

pytestmark = pytest.mark.gloo
ddp = nn.parallel.DistributedDataParallel


class Branches(nn.Module):
    """Uses b where told to; checkpoints a twice where told to."""

    def __init__(self):
        super().__init__()
        rushlight.manual_seed(0)
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
        self.e = nn.Linear(1, 1).requires_grad_(False)
        self.use_b, self.reentrant = True, None

    def forward(self, x):
        x = self.b(x) if self.use_b else x + 0
        if self.reentrant is None:
            return self.a(x)
        x = checkpoint(self.a, x, use_reentrant=self.reentrant)
        return checkpoint(self.a, x, use_reentrant=self.reentrant)


def trained(model):
    return [p for p in model.parameters() if p.requires_grad]


def step(model, x):
    model(x).sum().backward()


def outcome(call):
    """The error or the warnings of a call."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return [str(each.message) for each in said]


def gradient(rank, size, reentrant=None, use_b=True):
    """The average over the ranks, computed without DDP."""
    model, total = Branches(), 0
    model.use_b = use_b
    for r in range(size):
        model.zero_grad()
        model.reentrant = reentrant
        step(model, own(r))
        total = total + model.a.weight.grad
    return total / size


def own(rank):
    return rushlight.tensor([[1.0, 2.0 + rank]], requires_grad=True)


def graphs(rank, size):
    """3, 4, 9: unused parameters, static graphs, checkpoints; double backward."""
    x, found = own(rank), {}
    model = ddp(Branches())
    model.module.use_b = False
    step(model, x)
    found["unused"] = outcome(lambda: model(x))
    model = ddp(Branches(), static_graph=True)
    step(model, x)
    model.module.use_b = False
    found["shrinks"] = outcome(lambda: [step(model, x) for _ in range(2)])
    model = ddp(Branches(), static_graph=True)
    model.module.use_b = False
    model.module.b.weight.grad = rushlight.full((2, 2), 7.0)
    for _ in range(3):
        model.module.a.zero_grad()
        step(model, x)
    assert model.module.b.weight.grad.eq(7.0).all()
    assert rushlight.allclose(model.module.a.weight.grad, gradient(rank, size, use_b=False))
    model.module.use_b = True
    found["grows"] = outcome(lambda: step(model, x))
    for reentrant in (True, False):
        for options in ({}, {"static_graph": True}, {"gradient_as_bucket_view": True}):
            model = ddp(Branches(), **options)
            model.module.reentrant = reentrant
            said = outcome(lambda model=model: step(model, x))
            if reentrant and "static_graph" not in options:
                found["twice"] = said
                continue
            for _ in range(2):
                assert rushlight.allclose(
                    model.module.a.weight.grad, gradient(rank, size, reentrant), atol=1e-5
                ), (reentrant, options)
                model.zero_grad(set_to_none=not options)
                step(model, x)
    model = ddp(Branches(), find_unused_parameters=True)
    found["none unused"] = outcome(lambda: step(model, x))
    model = ddp(Branches())
    loss = model(x).sum()
    loss.backward(retain_graph=True)
    found["second backward"] = outcome(loss.backward)
    rushlight.autograd.grad(model(x).sum(), trained(model))
    found["autograd.grad"] = outcome(lambda: step(model, x))
    penalty = rushlight.autograd.grad(model(x).square().sum(), x, create_graph=True)[0]
    penalty.square().sum().backward()  # of a gradient: goes through all, and is reduced
    found["penalty"] = outcome(lambda: model(x))
    return found


def test_graphs():
    for rank, found in enumerate(run(graphs)):
        words = "Expected to have finished reduction in the prior iteration"
        assert words in found["unused"] and "find_unused_parameters=True" in found["unused"]
        assert f"on rank {rank}: b.weight, b.bias" in found["unused"]
        assert "used in first iteration, but then got unused" in found["shrinks"]
        assert "b.weight, b.bias" in found["shrinks"]
        assert (
            "training graph has changed" in found["grows"] and "parameter is b." in found["grows"]
        )
        assert "ready only once" in found["twice"] and "static_graph=True" in found["twice"]
        assert "parameter a." in found["twice"] and "use_reentrant=False" in found["twice"]
        assert "did not find any unused" in found["none unused"][0]
        (second,) = found["second backward"]
        assert "Add the losses" in second and "is this rank's alone" in second
        assert "Only backward()" in found["autograd.grad"][0] and found["penalty"] == []


def changes(rank, size):
    """6, 7, 8, 13: at construction, in state dicts, and parameters that change later."""
    x, found = own(rank), {}

    def changed(change):
        model = ddp(Branches())
        step(model, x)
        change(model.module)
        return outcome(lambda: model(x))

    found["frozen"] = changed(lambda m: m.b.requires_grad_(False))
    found["thawed"] = changed(lambda m: m.e.requires_grad_())
    found["added"] = changed(lambda m: setattr(m, "c", nn.Linear(1, 1)))
    found["replaced"] = changed(lambda m: setattr(m, "b", nn.Linear(2, 2)))
    found["removed"] = changed(lambda m: m.b.register_parameter("bias", None))
    found["dropout"] = changed(lambda m: setattr(m, "d", nn.Dropout()))
    found["doubled"] = outcome(lambda: step(ddp_of_double(x), x))
    model = ddp(Branches())
    found["lacks"] = outcome(lambda: model.load_state_dict(model.module.state_dict()))
    found["others"] = outcome(lambda: model.load_state_dict({"module.x": x}))
    assert model.load_state_dict(model.state_dict()) and sorted(model.state_dict())[0] == (
        "module.a.bias"
    )
    found["shapes"] = outcome(lambda: ddp(nn.Linear(2, 2 + rank)))
    found["count"] = outcome(lambda: ddp(nn.Linear(2, 2, bias=rank == 0)))
    for name, module, options in (
        ("none", nn.ReLU(), {}),
        ("ids", nn.Linear(1, 1), {"device_ids": [0]}),
        ("two ids", nn.Linear(1, 1), {"device_ids": [0, 1]}),
        ("meta", nn.Linear(1, 1, device="meta"), {}),
        ("lazy", nn.LazyLinear(1), {}),
    ):
        found[name] = outcome(lambda m=module, o=options: ddp(m, **o))
    # 7: buffers are rank 0's before each forward in training, and only there.
    norm = ddp(nn.BatchNorm1d(2))
    norm.module.running_mean.fill_(float(rank))
    with rushlight.no_grad():
        norm(rushlight.ones(3, 2))
    assert norm.module.running_mean[0].item() == pytest.approx(0.9 * rank + 0.1)
    norm(rushlight.ones(3, 2))
    assert norm.module.running_mean[0].item() == pytest.approx(0.9 * 0.1 + 0.1)
    return found


def ddp_of_double(x):
    model = ddp(Branches())
    step(model, x)
    model.double()
    return model


def test_changes():
    for found in run(changes):
        later = "have changed since DistributedDataParallel(model)"
        for name, words in {
            "frozen": "b.weight was frozen, b.bias was frozen",
            "thawed": "e.weight was made to require a gradient",
            "added": "c.weight was added, c.bias was added",
            "replaced": "b.weight is another parameter",
            "removed": "b.bias was removed",
        }.items():
            assert later in found[name] and words in found[name]
        assert found["dropout"] == []  # no parameter: not our business
        assert "call .to(...) before" in found["doubled"] or "dtype" in found["doubled"]
        assert "the keys lack 'module.'" in found["lacks"]
        assert "the keys lack" not in found["others"]
        assert (
            "rank 0 has weight: float32[2, 2], rank 1 has weight: float32[3, 2]" in found["shapes"]
        )
        assert "rank 0 has 2 parameters, rank 1 has 1" in found["count"]
        assert "RuntimeError: DistributedDataParallel is not needed" in found["none"]
        assert "device_ids [0]" in found["ids"] and "module parameters" in found["ids"]
        assert found["two ids"].startswith("ValueError")
        assert "to_empty" in found["meta"]
        assert "Run a dummy forward pass" in found["lazy"]


def toggles(rank, size):
    """13: all parameters frozen for a while, as of a GAN's other half; some, where they may be."""
    x, model = own(rank), ddp(Branches())

    def halves():
        for _ in range(2):
            for needed in (True, False):
                model.module.a.requires_grad_(needed)
                model.module.b.requires_grad_(needed)
                model.zero_grad()
                step(model, x)

    said = outcome(halves)
    free = ddp(Branches(), find_unused_parameters=True)
    step(free, x)
    free.module.b.requires_grad_(False)
    free.zero_grad()
    step(free, x)
    right = rushlight.allclose(free.module.a.weight.grad, gradient(rank, size))
    return said, right, free.module.b.weight.grad is None


def test_freezing_where_it_is_right():
    assert run(toggles) == [([], True, True)] * 2


def copies(rank, size):
    """A copy and a file of a wrapped module average on their own."""
    x, model = own(rank), ddp(Branches())
    rushlight.save(model, file := io.BytesIO())
    file.seek(0)
    found = []
    for other in (copy.deepcopy(model), rushlight.load(file, weights_only=False)):
        model.zero_grad()
        step(model, x)
        step(other, x)
        found.append(other.module.a.weight.grad.equal(model.module.a.weight.grad))
        found.append(other.module.a.weight is not model.module.a.weight)
    inner = dist.new_group(list(range(size)))
    other = ddp(Branches(), process_group=inner)
    found.append("only supported" in outcome(lambda: copy.deepcopy(other)))
    return found


def test_copies():
    assert run(copies) == [[True] * 5] * 2


def early(rank, size):
    """10: one rank has a batch less; the other one says so."""
    model = ddp(Branches())
    for _ in range(2):
        step(model, own(rank))
    if rank == 1:
        dist.destroy_process_group()
        return None
    return outcome(lambda: step(model, own(rank)))


def test_a_rank_that_leaves_its_loop_early():
    assert "rank 1 has exited or left the group" in run(early)[0]


def views(rank, size):
    """5, 9: gradients are views of buckets, whatever zero_grad() does; no_sync()."""
    model = ddp(Branches(), gradient_as_bucket_view=True)
    for i in range(4):
        with model.no_sync():
            step(model, own(rank))
        step(model, own(rank))
        assert rushlight.allclose(model.module.a.weight.grad, 2 * gradient(rank, size))
        bases = {p.grad.untyped_storage().data_ptr() for p in trained(model)}
        assert len(bases) == 1
        model.zero_grad(set_to_none=i % 2 == 0)
    reducer = model.reducer
    del model
    gc.collect()
    return len(reducer.buckets)


def test_views_of_buckets():
    assert run(views) == [1, 1]


def test_a_sampler_whose_epoch_is_not_set_says_so_once():
    """12."""
    sampler = rushlight.utils.data.DistributedSampler(range(5), 2, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = list(sampler)
    with pytest.warns(UserWarning, match="set_epoch"):
        assert list(sampler) == first
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(sampler) == first
        other = rushlight.utils.data.DistributedSampler(range(5), 2, 0)
        for epoch in range(3):
            other.set_epoch(epoch)
            list(other)
        ordered = rushlight.utils.data.DistributedSampler(range(5), 2, 0, shuffle=False)
        assert list(ordered) == list(ordered)
