"""Segmentation models with small encoders: forward, losses, a training step, save and load."""

import tempfile

import segmentation_models_pytorch as smp
import torch

torch.manual_seed(0)
x = torch.randn(2, 3, 64, 64)
y = (torch.rand(2, 1, 64, 64) > 0.5).float()
small = {"encoder_name": "resnet18", "encoder_weights": None, "in_channels": 3, "classes": 1}
for name in ("FPN", "Linknet", "PSPNet", "DeepLabV3Plus", "MAnet", "UnetPlusPlus"):
    torch.manual_seed(0)
    model = getattr(smp, name)(**small).eval()
    with torch.no_grad():
        out = model(x)
    print(name, tuple(out.shape), out.mean().item(), out.std().item())
torch.manual_seed(0)
model = smp.Unet(**small, aux_params={"classes": 2, "dropout": None})
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for kind in (smp.losses.DiceLoss, smp.losses.JaccardLoss, smp.losses.FocalLoss):
    mask, label = model(x)
    loss = kind("binary")(mask, y) + label.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(kind.__name__, loss.item())
print("lovasz", smp.losses.LovaszLoss("binary")(mask, y).item())
print("tversky", smp.losses.TverskyLoss("binary")(mask, y).item())
counts = smp.metrics.get_stats(mask.sigmoid(), y.long(), mode="binary", threshold=0.5)
print("iou", smp.metrics.iou_score(*counts, reduction="micro").item())
with tempfile.TemporaryDirectory() as folder:
    model.eval().save_pretrained(folder)
    again = smp.from_pretrained(folder).eval()
    print("again", (again(x)[0] - model(x)[0]).abs().max().item())
