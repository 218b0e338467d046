"""Solvers of ordinary differential equations, and gradients through them."""

import torch
from torchdiffeq import odeint, odeint_adjoint

torch.manual_seed(0)
times = torch.linspace(0, 1, 5)
start = torch.tensor([1.0, 0.0])
matrix = torch.tensor([[0.0, 1.0], [-1.0, -0.1]])
for method in (
    "dopri5",
    "rk4",
    "euler",
    "midpoint",
    "bosh3",
    "adaptive_heun",
    "explicit_adams",
    "dopri8",
):
    print(method, odeint(lambda t, y: matrix @ y, start, times, method=method)[-1].tolist())


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
        )

    def forward(self, t, y):
        return self.layers(y)


field = Field()
for solve in (odeint, odeint_adjoint):
    field.zero_grad()
    loss = solve(field, start, times, method="rk4").square().sum()
    loss.backward()
    print(solve.__name__, loss.item(), field.layers[0].weight.grad.tolist())
