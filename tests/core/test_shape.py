"""x.shape is kept for the next question: it must follow every change of the tensor in place."""

import pytest

import rushlight as torch

CHANGES = {
    "t_": lambda x: x.t_(),
    "transpose_": lambda x: x.transpose_(0, 1),
    "unsqueeze_": lambda x: x.unsqueeze_(1),
    "squeeze_": lambda x: x.unsqueeze_(0).squeeze_(),
    "out": lambda x: torch.add(torch.ones(4, 5), 1, out=x),
    "data": lambda x: setattr(x, "data", torch.ones(7)),
    "data_of_another_rank": lambda x: setattr(x, "data", torch.ones(2, 3, 1)),
    "resize_": lambda x: x.resize_(3, 3),
    "resize_as_": lambda x: x.resize_as_(torch.ones(1, 1, 6)),
    "swapaxes_": lambda x: x.swapaxes_(0, -1),
    "as_strided_": lambda x: x.as_strided_((6,), (1,)),
}


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("change", CHANGES)
def test_shape_follows_a_change_in_place(change):
    x = torch.arange(6.0).view(2, 3).clone()
    assert x.shape == (2, 3) and x.shape is x.shape
    CHANGES[change](x)
    assert tuple(x.shape) == tuple(x.size(d) for d in range(x.dim()))
    assert x.shape.numel() == x.numel() and type(x.shape) is torch.Size


def test_shape_of_a_subclass_and_of_large_sizes():
    class Mine(torch.Tensor):
        pass

    x = torch.ones(2, 3).as_subclass(Mine)
    assert x.shape == x.shape == torch.Size([2, 3])
    wide = torch.empty(2**40, 2**20, device="meta")
    assert wide.shape == wide.shape == (2**40, 2**20)
