"""Layers that are equivariant to rotations; their products are compiled by torch.fx."""

import torch
from e3nn import nn, o3

torch.manual_seed(0)
irreps = o3.Irreps("2x0e+1x1o+1x2e")
angles = torch.tensor([0.1, 0.2, 0.3])
print("dimension", irreps.dim, "rotation", irreps.D_from_angles(*angles).sum().item())
x = irreps.randn(3, -1)
product = o3.FullyConnectedTensorProduct(irreps, irreps, "3x0e+1x1o")
print("product", product(x, x).tolist())
loss = product(x, x).square().sum()
loss.backward()
print("gradient", product.weight.grad.norm().item())
print("linear", o3.Linear(irreps, "2x0e+1x1o")(x).tolist())
print("harmonics", o3.spherical_harmonics([0, 1, 2, 3], torch.randn(4, 3), True).tolist())
gate = nn.Gate("2x0e", [torch.tanh], "1x0e", [torch.sigmoid], "1x1o")
print("gate", gate(torch.randn(2, gate.irreps_in.dim)).tolist())
print("norm", nn.BatchNorm(irreps)(x).tolist())
