"""What of Tensor.grad_dtype torch cannot answer: `del` ends its process. The rest is compared in
tests/snippets/grad_dtype.txt."""

import rushlight as torch


def test_deleted_is_the_tensors_own(device):
    x = torch.ones(2, requires_grad=True, device=device)
    del x.grad_dtype  # never set
    x.grad_dtype = torch.float64
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float64
    x.grad = None
    del x.grad_dtype
    assert x.grad_dtype is torch.float32
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float32


def test_sparse_gradients_stay_as_they_are(device):
    x = torch.ones(3, 2, requires_grad=True, device=device)
    x.grad_dtype = torch.float64
    rows = torch.nn.functional.embedding(torch.tensor([1], device=device), x, sparse=True)
    rows.sum().backward()
    assert x.grad.is_sparse
