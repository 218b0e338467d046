"""Indices out of range, and item() of tensors with several elements."""

from tests.errors.wrong import Wrong

ROWS = [
    Wrong("torch.ones(3)[5]", IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
    Wrong("torch.ones(3)[0, 0]", IndexError, "too many indices for tensor of dimension 1"),
    Wrong(
        "torch.ones(3)[torch.tensor([0, 3])]",
        IndexError,
        "index 3 is out of bounds for dimension 0 with size 3",
    ),
    Wrong(
        "torch.ones(3)[torch.tensor([True, False])]",
        IndexError,
        (
            "The shape of the mask [2] at index 0 does not match the shape of the "
            "indexed tensor [3] at index 0"
        ),
    ),
    Wrong(
        "torch.ones(3)[torch.tensor([0.5])]",
        IndexError,
        "tensors used as indices must be long, int, byte or bool tensors",
    ),
    Wrong("torch.ones(3)[::-1]", ValueError, "step must be greater than zero"),
    Wrong(
        "torch.ones(3)[1.0]",
        IndexError,
        (
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
            "Variables are valid indices (got float)"
        ),
    ),
    Wrong(
        "torch.tensor(1.0)[0]",
        IndexError,
        (
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        ),
    ),
    Wrong(
        "x = torch.ones(3)\nx[0:2] = torch.ones(3)",
        RuntimeError,
        (
            "The expanded size of the tensor (2) must match the existing size (3) at "
            "non-singleton dimension 0.  Target sizes: [2].  Tensor sizes: [3]"
        ),
    ),
    Wrong(
        "x = torch.ones(3)\nx[4] = 1",
        IndexError,
        "index 4 is out of bounds for dimension 0 with size 3",
    ),
    Wrong(
        "torch.gather(torch.ones(2, 2), 1, torch.tensor([[2]]))",
        RuntimeError,
        "index 2 is out of bounds for dimension 1 with size 2",
    ),
    Wrong(
        "torch.index_select(torch.ones(3), 0, torch.tensor([3]))",
        IndexError,
        "index out of range in self",
    ),
    Wrong(
        "torch.ones(3).item()",
        RuntimeError,
        "a Tensor with 3 elements cannot be converted to Scalar",
    ),
    Wrong(
        "bool(torch.ones(3))",
        RuntimeError,
        "Boolean value of Tensor with more than one value is ambiguous",
    ),
    Wrong(
        "float(torch.ones(3))",
        ValueError,
        "only one element tensors can be converted to Python scalars",
    ),
    Wrong("len(torch.tensor(1.0))", TypeError, "len() of a 0-d tensor"),
    Wrong("list(torch.tensor(1.0))", TypeError, "iteration over a 0-d tensor"),
]
