# Code of document 003, as it stands there.
import torch
tensor = torch.randn(2, 2)
a = tensor.to(torch.float64)
print(tensor.dtype, a.dtype)
a = tensor.to('cuda:0')
print(tensor.device, repr(a.device))
cuda0 = torch.device('cuda:0')
b = tensor.to(cuda0)
print(tensor.device, repr(b.device))
c = tensor.to('cuda:0',torch.float64)
print(repr(c.device), c.dtype)
other = torch.randn((), dtype=torch.float64, device=cuda0)
d = tensor.to(other, non_blocking=True)
print(repr(d.device), d.dtype)
cuda = torch.device('cuda')
with torch.cuda.device(1):
    # allocates a tensor on GPU 1
    a = torch.tensor([1., 2.], device=cuda)
    # transfers a tensor from CPU to GPU 1
    b = torch.tensor([1., 2.]).cuda()
    # a.device and b.device are device(type='cuda', index=1)
    # You can also use ``Tensor.to`` to transfer a tensor:
    b2 = torch.tensor([1., 2.]).to(device=cuda)
    # b.device and b2.device are device(type='cuda', index=1)
print(repr(a.device), repr(b.device), repr(b2.device))
