"""Second-order quantities and gradients of single samples, from one backward pass."""

import backpack
import torch
from backpack import extensions

torch.manual_seed(0)
x, y = torch.randn(12, 1, 6, 6), torch.arange(12) % 3
layers = torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(48, 3)
net = backpack.extend(torch.nn.Sequential(*layers))
objective = backpack.extend(torch.nn.CrossEntropyLoss())
loss = objective(net(x), y)
with backpack.backpack(
    extensions.BatchGrad(),
    extensions.Variance(),
    extensions.BatchL2Grad(),
    extensions.DiagGGNExact(),
    extensions.DiagHessian(),
    extensions.KFLR(),
):
    loss.backward()
for name, p in net.named_parameters():
    print(name, "samples", tuple(p.grad_batch.shape), p.grad_batch.sum().item())
    print(name, "variance", p.variance.sum().item(), "norms", p.batch_l2.tolist())
    print(name, "curvature", p.diag_ggn_exact.sum().item(), p.diag_h.sum().item())
    print(name, "factors", [factor.sum().item() for factor in p.kflr])
