"""What goes wrong with devices, on two virtual GPUs with 64 MB each."""

from tests.errors.wrong import Wrong

ROWS = [
    Wrong(
        'torch.ones(2, device="cuda:0") + torch.ones(2)',
        RuntimeError,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
        "cpu!",
    ),
    Wrong(
        'torch.ones(2, device="cuda:0") + torch.ones(2, device="cuda:1")',
        RuntimeError,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
        "cuda:1!",
    ),
    Wrong(
        'nn.Linear(2, 2)(torch.ones(3, 2, device="cuda"))',
        RuntimeError,
        "Expected all tensors to be on the same device",
        "cuda:0",
        "cpu",
        "weight",
    ),
    Wrong(
        'F.cross_entropy(torch.ones(2, 3, device="cuda"), torch.tensor([0, 1]))',
        RuntimeError,
        "Expected all tensors to be on the same device",
        "target",
    ),
    Wrong(
        'nn.CrossEntropyLoss(weight=torch.ones(3))(torch.ones(2, 3, device="cuda"), '
        'torch.tensor([0, 1], device="cuda"))',
        RuntimeError,
        "Expected all tensors to be on the same device",
        "weight",
    ),
    Wrong(
        'torch.ones(2, device="cuda").numpy()',
        TypeError,
        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
        "host memory first.",
    ),
    Wrong('torch.ones(2, device="cuda:2")', RuntimeError, "CUDA error: invalid device ordinal"),
    Wrong("torch.cuda.set_device(5)", RuntimeError, "CUDA error: invalid device ordinal"),
    Wrong(
        'torch.empty(1 << 28, device="cuda")',
        RuntimeError,
        "CUDA out of memory. Tried to allocate 1024.00 MiB. GPU 0 has a total capacity of 64.00 "
        "MiB",
    ),
    Wrong(
        'torch.rand(2, generator=torch.Generator("cuda"))',
        RuntimeError,
        "Expected a 'cpu' device type for generator but found 'cuda'",
    ),
    Wrong(
        "nn.DataParallel(nn.Linear(2, 2), device_ids=[1, 0]).cuda()(torch.ones(4, 2))",
        RuntimeError,
        "module must have its parameters and buffers on device cuda:1 (device_ids[0]) but found "
        "one of them on device: cuda:0",
    ),
    Wrong("torch.FloatTensor([1]).cuda(9)", RuntimeError, "CUDA error: invalid device ordinal"),
    Wrong(
        'torch.cuda.FloatTensor(2, device="cpu")',
        RuntimeError,
        "legacy constructor expects device type: cuda but device type: cpu was passed",
    ),
    Wrong(
        'torch.cuda.get_device_name("cpu")',
        ValueError,
        "Expected a cuda device, but got: cpu",
    ),
]
