"""Adversarial examples by several methods."""

import torch
import torchattacks

torch.manual_seed(0)
nn = torch.nn
net = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)
).eval()
x, y = torch.rand(4, 3, 12, 12), torch.arange(4)
for name in ("FGSM", "BIM", "PGD", "CW", "MIFGSM", "TPGD", "DeepFool", "PGDL2", "APGD", "Square"):
    torch.manual_seed(1)
    attack = getattr(torchattacks, name)(net)
    changed = attack(x, y)
    print(name, (changed - x).abs().mean().item(), changed.sum().item())
