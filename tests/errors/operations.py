"""Shapes and dtypes that do not fit, and arguments of the wrong kind."""

from tests.errors.wrong import Wrong

ROWS = [
    Wrong(
        "torch.ones(2, 3) + torch.ones(4)",
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    Wrong(
        "torch.ones(2, 3).add_(torch.ones(4, 2, 3))",
        RuntimeError,
        "output with shape [2, 3] doesn't match the broadcast shape [4, 2, 3]",
    ),
    Wrong(
        "torch.mm(torch.ones(2, 3), torch.ones(2, 3))",
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
    ),
    Wrong("torch.mm(torch.ones(3), torch.ones(3, 2))", RuntimeError, "self must be a matrix"),
    Wrong(
        "torch.ones(2, 3) @ torch.ones(2)",
        RuntimeError,
        "size mismatch, got input (2), mat (2x3), vec (2)",
    ),
    Wrong(
        "torch.ones(2, 3, 4) @ torch.ones(3, 4, 5)",
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    ),
    Wrong(
        "torch.dot(torch.ones(2), torch.ones(3))",
        RuntimeError,
        (
            "inconsistent tensor size, expected tensor [2] and src [3] to have the same "
            "number of elements, but got 2 and 3 elements respectively"
        ),
    ),
    Wrong("torch.ones(6).view(4)", RuntimeError, "shape '[4]' is invalid for input of size 6"),
    Wrong(
        "torch.ones(2, 3).t().view(6)",
        RuntimeError,
        (
            "view size is not compatible with input tensor's size and stride (at least "
            "one dimension spans across two contiguous subspaces). Use .reshape(...) "
            "instead."
        ),
    ),
    Wrong(
        "torch.ones(6).reshape(4, -1)",
        RuntimeError,
        "shape '[4, -1]' is invalid for input of size 6",
    ),
    Wrong(
        "torch.ones(2, 3).expand(2, 4)",
        RuntimeError,
        (
            "The expanded size of the tensor (4) must match the existing size (3) at "
            "non-singleton dimension 1.  Target sizes: [2, 4].  Tensor sizes: [2, 3]"
        ),
    ),
    Wrong(
        "torch.ones(2, 3).permute(0, 1, 2)",
        RuntimeError,
        (
            "permute(sparse_coo): number of dimensions in the tensor input does not "
            "match the length of the desired ordering of dimensions i.e. input.dim() = 2 "
            "is not equal to len(dims) = 3"
        ),
    ),
    Wrong(
        "torch.ones(2, 3).permute(0, 0)", RuntimeError, "permute(): duplicate dims are not allowed."
    ),
    Wrong(
        "torch.ones(2, 3).transpose(0, 2)",
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    Wrong(
        "torch.ones(2, 3).sum(dim=2)",
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    Wrong(
        "torch.ones(2, 3).squeeze(5)",
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 5)",
    ),
    Wrong(
        "torch.ones(2, 3, 4).t()",
        RuntimeError,
        "t() expects a tensor with <= 2 dimensions, but self is 3D",
    ),
    Wrong(
        "torch.cat([torch.ones(2, 3), torch.ones(2, 2)])",
        RuntimeError,
        (
            "Sizes of tensors must match except in dimension 0. Expected size 3 but got "
            "size 2 for tensor number 1 in the list."
        ),
    ),
    Wrong("torch.cat([])", ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    Wrong(
        "torch.stack([torch.ones(2), torch.ones(3)])",
        RuntimeError,
        "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1",
    ),
    Wrong(
        "torch.ones(5).split([2, 2])",
        RuntimeError,
        (
            "split_with_sizes expects split_sizes to sum exactly to 5 (input tensor's "
            "size at dimension 0), but got split_sizes=[2, 2]"
        ),
    ),
    Wrong(
        "torch.ones(5).chunk(0)",
        RuntimeError,
        "chunk expects `chunks` to be greater than 0, got: 0",
    ),
    Wrong("torch.tensor([1, 2]) // 0", RuntimeError, "ZeroDivisionError"),
    Wrong(
        "torch.add(torch.ones(2), torch.ones(2), out=torch.ones(2).long())",
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    Wrong(
        'torch.add("a", torch.ones(1))',
        TypeError,
        "add(): argument 'input' (position 1) must be Tensor, not str",
    ),
    Wrong(
        'torch.ones(1) + "a"', TypeError, "unsupported operand type(s) for +: 'Tensor' and 'str'"
    ),
    Wrong(
        "torch.ones(1) + None",
        TypeError,
        "unsupported operand type(s) for +: 'Tensor' and 'NoneType'",
    ),
    Wrong("torch.relu()", TypeError, 'relu() missing 1 required positional arguments: "input"'),
    Wrong(
        "torch.relu(torch.ones(1), torch.ones(1))",
        TypeError,
        "relu() takes 1 positional argument but 2 were given",
    ),
    Wrong(
        "torch.relu(3)", TypeError, "relu(): argument 'input' (position 1) must be Tensor, not int"
    ),
    Wrong(
        'torch.ones(2).sum(0, "yes")',
        TypeError,
        "sum()",
        "keepdim",
        ours=True,
    ),
    Wrong(
        "torch.ones(0).max()",
        RuntimeError,
        (
            "max(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        ),
    ),
    Wrong(
        "torch.ones(2, 0).max(dim=1)",
        IndexError,
        "max(): Expected reduction dim 1 to have non-zero size.",
    ),
    Wrong("torch.topk(torch.ones(3), 4)", RuntimeError, "selected index k out of range"),
    Wrong(
        "torch.where(torch.ones(2), torch.ones(2), torch.ones(2))",
        RuntimeError,
        "where expected condition to be a boolean tensor, but got a tensor with dtype Float",
    ),
    Wrong(
        "torch.ones(2).normal_(0, -1)", RuntimeError, "normal expects std >= 0.0, but found std -1"
    ),
    Wrong("torch.ones(2, 3).T.foo", AttributeError, "'Tensor' object has no attribute 'foo'"),
    Wrong(
        "torch.ones(2).copy_(torch.ones(3))",
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    ),
    Wrong(
        "torch.ones(2).clamp()",
        RuntimeError,
        "torch.clamp: At least one of 'min' or 'max' must not be None",
    ),
    Wrong(
        "torch.ones(2, 3).flatten(1, 0)",
        RuntimeError,
        "flatten() has invalid args: start_dim cannot come after end_dim",
    ),
    Wrong(
        "torch.ones(2, 3).unflatten(1, (2, 2))",
        RuntimeError,
        (
            "unflatten: Provided sizes [2, 2] don't multiply up to the size of dim 1 (3) "
            "in the input tensor"
        ),
    ),
    Wrong(
        "torch.ones(4).as_strided((5,), (1,))",
        RuntimeError,
        (
            "setStorage: sizes [5], strides [1], storage offset 0, and itemsize 4 "
            "requiring a storage size of 20 are out of bounds for storage of size 16"
        ),
    ),
    Wrong(
        "torch.ones(2, 2).repeat(2)",
        RuntimeError,
        (
            "Number of dimensions of repeat dims can not be smaller than number of "
            "dimensions of tensor"
        ),
    ),
    Wrong(
        "torch.ones(2, 3).argmax(dim=3)",
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    ),
    Wrong(
        "torch.ones(1, 2).expand(-1, -1, 2)",
        RuntimeError,
        "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0",
    ),
]
