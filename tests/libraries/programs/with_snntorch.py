"""A spiking network through six steps of time."""

import snntorch
import torch
from snntorch import functional, spikegen, surrogate

torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = torch.nn.Linear(10, 20), torch.nn.Linear(20, 3)
        self.lif1 = snntorch.Leaky(beta=0.9, spike_grad=surrogate.fast_sigmoid())
        self.lif2 = snntorch.Synaptic(alpha=0.8, beta=0.9, spike_grad=surrogate.atan())

    def forward(self, x):
        first = self.lif1.init_leaky()
        current, second = self.lif2.init_synaptic()
        spikes = []
        for step in x:
            spike, first = self.lif1(self.fc1(step), first)
            spike, current, second = self.lif2(self.fc2(spike), current, second)
            spikes.append(spike)
        return torch.stack(spikes)


x = spikegen.rate(torch.rand(8, 10), num_steps=6)
y = torch.arange(8) % 3
net = Net()
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
for _step in range(5):
    spikes = net(x)
    loss = functional.ce_rate_loss()(spikes, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item(), "spikes", spikes.sum().item())
print("accuracy", functional.accuracy_rate(spikes, y))
