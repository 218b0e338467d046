"""What goes with DistributedDataParallel on virtual GPUs: all that is sent must be on the GPU."""

import pickle

import pytest

import rushlight
from tests.distributed import test_ddp_complaints, test_ddp_join, test_sync_batchnorm, test_zero
from tests.distributed.worlds import run

pytestmark = pytest.mark.gloo


def family(rank, size):
    return [
        test_ddp_complaints.toggles(rank, size),
        test_ddp_join.weights_after([5, 2], divides=False),
        test_ddp_join.weights_after([1, 3], sharded=True),
        test_sync_batchnorm.comparisons(rank, size)[0] < 1e-10,
        test_zero.trains(rank, size),
    ]


def test_on_virtual_gpus():
    one, two = run(family, 2, backend="nccl")
    assert repr(one) == repr(two)
    toggles, _, _, synced, trains = one
    assert toggles == ([], True, True) and synced and all(trains)


def test_a_tensor_of_the_cpu_is_pickled_where_the_default_device_is_a_gpu():
    with rushlight.cuda.virtual(1), rushlight.device("cuda"):
        x = pickle.loads(pickle.dumps(rushlight.arange(3, device="cpu")))
    assert x.device.type == "cpu" and x.tolist() == [0, 1, 2]
