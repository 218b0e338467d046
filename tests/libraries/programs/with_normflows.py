"""Normalizing flows: log-densities, samples, training steps, save and load."""

import io

import normflows
import torch

torch.manual_seed(0)


def coupling():
    layers = []
    for _ in range(3):
        layers += [
            normflows.flows.AffineCouplingBlock(normflows.nets.MLP([1, 16, 2], init_zeros=False)),
            normflows.flows.Permute(2, mode="swap"),
            normflows.flows.ActNorm(2),
        ]
    return layers


def splines():
    layers = []
    for _ in range(2):
        layers += [
            normflows.flows.AutoregressiveRationalQuadraticSpline(2, 1, 8),
            normflows.flows.LULinearPermute(2),
        ]
    return layers


x = torch.randn(32, 2) * torch.tensor([0.5, 2.0]) + 1
for make in (coupling, splines):
    flow = normflows.NormalizingFlow(normflows.distributions.DiagGaussian(2), make())
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
    for _step in range(4):
        optimizer.zero_grad()
        loss = flow.forward_kld(x)
        loss.backward()
        optimizer.step()
        print(make.__name__, loss.item())
    flow.eval()
    samples, log_p = flow.sample(3)
    print("samples", samples.tolist(), log_p.tolist())
    print("log prob", flow.log_prob(x[:4]).tolist())
    file = io.BytesIO()
    torch.save(flow.state_dict(), file)
    flow.load_state_dict(torch.load(io.BytesIO(file.getvalue())))
    print("again", flow.log_prob(x[:2]).tolist())
