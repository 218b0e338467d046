"""Normalizing flows with a context: training, densities and samples."""

import torch
import zuko

torch.manual_seed(0)
x, context = torch.randn(64, 3), torch.randn(64, 2)
for flow in (
    zuko.flows.MAF(3, 2, transforms=2, hidden_features=(16, 16)),
    zuko.flows.NSF(3, 2, transforms=2, hidden_features=(16,)),
    zuko.flows.RealNVP(3, 2, transforms=2, hidden_features=(16,)),
    zuko.flows.CNF(3, 2, hidden_features=(16,)),
    zuko.flows.GMM(3, 2, components=4),
    zuko.flows.SOSPF(3, 2, transforms=2),
    zuko.flows.BPF(3, 2, transforms=2),
    zuko.flows.UNAF(3, 2, transforms=1),
):
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
    for _step in range(3):
        loss = -flow(context).log_prob(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.manual_seed(1)
    print(type(flow).__name__, loss.item(), flow(context[0]).sample((2,)).tolist())
