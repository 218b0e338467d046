"""Training with differential privacy: gradients of single samples, clipped."""

import warnings

import opacus
import torch
from opacus.layers import DPLSTM
from opacus.validators import ModuleValidator

warnings.simplefilter("ignore")
torch.manual_seed(0)
x = torch.randn(64, 5)
y = (x.sum(1) > 0).long()
net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16)
engine = opacus.PrivacyEngine(accountant="rdp")
net, optimizer, data = engine.make_private(
    module=net, optimizer=optimizer, data_loader=data, noise_multiplier=0.0, max_grad_norm=1.0,
    poisson_sampling=False,
)  # fmt: skip
for inputs, targets in data:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
    print("loss", loss.item(), [tuple(p.grad_sample.shape) for p in net.parameters()])
lstm = opacus.GradSampleModule(DPLSTM(4, 5, batch_first=True))
lstm(torch.rand(3, 6, 4))[0].sum().backward()
print("recurrent", [p.grad_sample.norm().item() for p in lstm.parameters()])
print("fixed", ModuleValidator.fix(torch.nn.Sequential(torch.nn.BatchNorm2d(4))))
