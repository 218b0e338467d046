"""Sparse relatives of softmax, their losses and gradients."""

import entmax
import torch

torch.manual_seed(0)
x = torch.randn(4, 6, requires_grad=True)
weights = torch.arange(6.0)
for function in (entmax.sparsemax, entmax.entmax15, entmax.entmax_bisect):
    y = function(x)
    (gradient,) = torch.autograd.grad((y * weights).sum(), x)
    print(function.__name__, y.tolist(), gradient.tolist())
target = torch.tensor([0, 2, 1, 5])
for loss in (entmax.SparsemaxLoss(), entmax.Entmax15Loss(), entmax.EntmaxBisectLoss(1.5)):
    value = loss(x, target)
    (gradient,) = torch.autograd.grad(value, x)
    print(type(loss).__name__, value.item(), gradient.sum(0).tolist())
alpha = torch.tensor(1.4, requires_grad=True)
entmax.entmax_bisect(x, alpha).square().sum().backward()
print("alpha", alpha.grad.item())
