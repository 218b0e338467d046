"""Optimizers, data loading and files."""

from tests.errors.wrong import Wrong

ROWS = [
    Wrong("torch.optim.SGD([], lr=0.1)", ValueError, "optimizer got an empty parameter list"),
    Wrong(
        "torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=-1)",
        ValueError,
        "Invalid learning rate: -1",
    ),
    Wrong(
        "torch.optim.SGD(torch.ones(2), lr=0.1)",
        TypeError,
        (
            "params argument given to the optimizer should be an iterable of Tensors or "
            "dicts, but got torch.FloatTensor"
        ),
    ),
    Wrong(
        "torch.optim.SGD([1.0], lr=0.1)",
        TypeError,
        "optimizer can only optimize Tensors, but one of the params is float",
    ),
    Wrong(
        "torch.optim.SGD([torch.ones(2, requires_grad=True) * 2], lr=0.1)",
        ValueError,
        "can't optimize a non-leaf Tensor",
    ),
    Wrong(
        "torch.optim.Adam(nn.Linear(2, 2).parameters(), betas=(1.0, 0.9))",
        ValueError,
        "Invalid beta parameter at index 0: 1.0",
    ),
    Wrong(
        "torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1, momentum=-1)",
        ValueError,
        "Invalid momentum value: -1",
    ),
    Wrong(
        "torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1, nesterov=True)",
        ValueError,
        "Nesterov momentum requires a momentum and zero dampening",
    ),
    Wrong(
        "torch.utils.data.DataLoader([1], batch_size=0)",
        ValueError,
        "batch_size should be a positive integer value, but got batch_size=0",
    ),
    Wrong(
        "torch.utils.data.DataLoader([1], shuffle=True, sampler=[0])",
        ValueError,
        "sampler option is mutually exclusive with shuffle",
    ),
    Wrong(
        "torch.utils.data.DataLoader([1], num_workers=-1)",
        ValueError,
        "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.",
    ),
    Wrong(
        "list(torch.utils.data.DataLoader([object()]))",
        TypeError,
        (
            "default_collate: batch must contain tensors, numpy arrays, numbers, dicts "
            "or lists; found <class 'object'>"
        ),
    ),
    Wrong(
        "list(torch.utils.data.DataLoader([torch.ones(2), torch.ones(3)], batch_size=2))",
        RuntimeError,
        "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1",
    ),
    Wrong(
        "torch.utils.data.random_split([1, 2, 3], [1, 1])",
        ValueError,
        "Sum of input lengths does not equal the length of the input dataset!",
    ),
    Wrong(
        "torch.utils.data.TensorDataset(torch.ones(2), torch.ones(3))",
        AssertionError,
        "Size mismatch between tensors",
    ),
    Wrong(
        'torch.load("absent.pt")',
        FileNotFoundError,
        "[Errno 2] No such file or directory: 'absent.pt'",
    ),
]
