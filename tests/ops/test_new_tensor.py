"""new_tensor(): numbers are read in the dtype of the tensor, not through float32."""

import pytest

import rushlight
from tests.conftest import ask


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "uint8", "bool"])
def test_numbers_are_read_in_the_dtype(dtype, on_device):
    def made(torch):
        x = torch.zeros(1, dtype=getattr(torch, dtype))
        return [x.new_tensor(data).tolist() for data in ([0.3, 7.9], [[1, 2]], 0.1, [True], [])]

    assert made(rushlight) == ask(made)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "bool"])
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_a_tensor_becomes_one_of_the_dtype(dtype, on_device):
    def made(torch):
        x = torch.zeros(1, dtype=getattr(torch, dtype))
        data = torch.tensor(2.5), torch.tensor([1, 2]), torch.ones(1, 2, dtype=torch.float64)
        return [(str(new.dtype), new.tolist()) for new in map(x.new_tensor, data)]

    assert made(rushlight) == ask(made)
