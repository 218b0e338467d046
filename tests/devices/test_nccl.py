"""Several devices together by NCCL: DataParallel's parameters and gradients. On the emulated
provider tests/emulator/libraries/nccl.cpp stands in and compares what the devices are asked for.
"""

import os

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn.parallel import replicate
from tests.devices.stand_ins import stand_in
from tests.devices.test_provider import losses_of, run, small_network

pytestmark = pytest.mark.emulated


@pytest.fixture
def library():
    return stand_in("NCCL")


def without_batch_norm(device):
    model = small_network()
    model[1] = nn.Identity()
    return model.to(device)


def counts(library):
    names = ("reductions", "broadcasts", "groups")
    return [getattr(library, f"emulated_{name}")() for name in names]


def test_a_step_is_one_broadcast_and_one_reduction(library):
    expected = losses_of(without_batch_norm("cpu"), "cpu")
    replicas = nn.DataParallel(without_batch_norm("cuda:0"), device_ids=[0, 1])
    parameters = len(list(replicas.parameters()))
    before = counts(library)
    assert losses_of(replicas, "cuda:0") == pytest.approx(expected, rel=1e-4)
    steps = 3
    after = [now - then for now, then in zip(counts(library), before, strict=True)]
    assert after == [steps * parameters, steps * parameters, steps * 2]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_dtypes_and_the_root_in_any_place(library, dtype):
    layer = nn.Linear(3, 2).to("cuda:1").to(getattr(torch, dtype))
    layer.register_buffer("calls", torch.tensor([7], device="cuda:1"))  # whole numbers are copied
    layer.register_buffer("turned", torch.arange(6.0, device="cuda:1").reshape(2, 3).t())
    before = counts(library)
    replicas = replicate(layer, ["cuda:0", "cuda:1"])
    assert counts(library) == [before[0], before[1] + 2, before[2] + 1]
    for index, replica in enumerate(replicas):
        device = f"cuda:{index}"
        assert str(replica.weight.device) == device and replica.calls.tolist() == [7]
        assert replica.turned.tolist() == layer.turned.tolist()
        assert replica.weight.tolist() == layer.weight.tolist()
    sum(
        (r(torch.ones(2, 3, device=f"cuda:{i}", dtype=layer.weight.dtype)) * (i + 1)).sum().cpu()
        for i, r in enumerate(replicas)
    ).backward()
    assert layer.weight.grad.tolist() == [[6.0] * 3] * 2 and layer.bias.grad.tolist() == [6.0] * 2
    assert str(layer.bias.grad.device) == "cuda:1" and counts(library)[0] == before[0] + 2
    replicate(layer, ["cuda:0", "cuda:1"])  # nothing has changed
    assert counts(library)[1] == before[1] + 2


def test_what_not_all_have_is_added_one_by_one(library):
    layer = nn.Linear(3, 2).to("cuda:0")
    one, two = replicate(layer, [0, 1])
    before = counts(library)
    two.bias.sum().backward()
    assert layer.weight.grad is None and layer.bias.grad.tolist() == [1.0, 1.0]
    assert one is not two and counts(library) == before


def test_without_it_devices_copy():
    run(
        """
        import rushlight as torch
        from tests.devices.test_nccl import without_batch_norm
        from tests.devices.test_provider import losses_of
        expected = losses_of(without_batch_norm("cpu"), "cpu")
        replicas = torch.nn.DataParallel(without_batch_norm("cuda:0"), device_ids=[0, 1])
        for ours, theirs in zip(losses_of(replicas, "cuda:0"), expected, strict=True):
            assert abs(ours - theirs) < 1e-4 * theirs
        """,
        RUSHLIGHT_NCCL_LIBRARY="none",
        PYTHONPATH=os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")])),
    )
