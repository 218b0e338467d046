"""Curvature matrices of a network as linear operators."""

import curvlinops
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
objective = torch.nn.MSELoss()
data = [(torch.randn(6, 3), torch.randn(6, 2))]
parameters = list(net.parameters())
for name in ("Hessian", "GGN", "EF"):
    operator = getattr(curvlinops, f"{name}LinearOperator")(net, objective, parameters, data)
    vector = torch.linspace(-1, 1, operator.shape[1])
    product = operator @ vector
    print(name, tuple(operator.shape), product.sum().item(), product.norm().item())
