"""Meta-learning: gradients through the steps of an inner optimizer."""

import higher
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
outer = torch.optim.Adam(net.parameters(), 1e-2)
for _step in range(3):
    outer.zero_grad()
    x = torch.randn(10, 3)
    y = x.sum(1, keepdim=True)
    inner = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    with higher.innerloop_ctx(net, inner, copy_initial_weights=False) as (fast, steps):
        for _inner in range(3):
            steps.step((fast(x) - y).square().mean())
        loss = (fast(2 * x) - 2 * y).square().mean()
        loss.backward()
    outer.step()
    print("loss", loss.item(), "gradient", sum(p.grad.norm().item() for p in net.parameters()))
with higher.innerloop_ctx(net, torch.optim.Adam(net.parameters(), lr=0.05)) as (fast, steps):
    steps.step(fast(x).square().mean())
    print("adapted", [p.sum().item() for p in fast.parameters()])
