"""Four steps of every optimizer of the collection."""

import torch
from pytorch_optimizer import get_supported_optimizers, load_optimizer

for name in sorted(get_supported_optimizers()):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    x = torch.randn(20, 4)
    try:
        optimizer = load_optimizer(name)(net.parameters(), lr=1e-3)
        for _step in range(4):
            optimizer.zero_grad()
            loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
            loss.backward(create_graph=name in ("adahessian", "sophiah"))
            optimizer.step()
        print(name, loss.item())
    except Exception as error:  # of those that want other arguments
        print(name, type(error).__name__)
