"""Spiking neurons with several surrogate gradients."""

import torch
from spikingjelly.activation_based import encoding, functional, layer, neuron, surrogate

torch.manual_seed(0)
net = torch.nn.Sequential(
    layer.Linear(10, 20),
    neuron.LIFNode(tau=2.0, surrogate_function=surrogate.ATan()),
    layer.Linear(20, 3),
    neuron.IFNode(surrogate_function=surrogate.Sigmoid()),
)
functional.set_step_mode(net, "m")
x, y = torch.rand(6, 8, 10) * 3, torch.arange(8) % 3
optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
for _step in range(4):
    rates = net(x).mean(0)
    loss = torch.nn.functional.mse_loss(rates, torch.nn.functional.one_hot(y, 3).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    functional.reset_net(net)
    print("loss", loss.item())
print(net)
for kind in (surrogate.ATan, surrogate.Sigmoid, surrogate.PiecewiseQuadratic, surrogate.Erf):
    at = torch.linspace(-2, 2, 7, requires_grad=True)
    spikes = kind()(at)
    spikes.sum().backward()
    print(kind.__name__, spikes.tolist(), at.grad.tolist())
print("encoded", encoding.PoissonEncoder()(torch.full((1000,), 0.3)).mean().item())
