"""A stochastic differential equation: paths and gradients."""

import torch
import torchsde


class Equation(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.drift = torch.nn.Linear(3, 3)

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return 0.1 * y


torch.manual_seed(0)
equation = Equation()
start, times = torch.ones(2, 3), torch.linspace(0, 1, 3)
for method in ("euler", "milstein", "srk"):
    noise = torchsde.BrownianInterval(
        t0=0.0, t1=1.0, size=(2, 3), entropy=1, levy_area_approximation="space-time"
    )
    equation.zero_grad()
    path = torchsde.sdeint(equation, start, times, bm=noise, method=method, dt=0.1)
    path[-1].sum().backward()
    print(method, path[-1].tolist(), equation.drift.weight.grad.sum().item())
