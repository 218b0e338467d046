"""Transforms, a dataset, a UNet with Dice loss, sliding windows and metrics of medical images."""

import tempfile

import monai
import numpy
import torch
from monai.transforms import (
    Compose,
    EnsureChannelFirst,
    Flip,
    GaussianSmooth,
    NormalizeIntensity,
    RandFlip,
    RandGaussianNoise,
    Resize,
    Rotate90,
    ScaleIntensity,
    SpatialPad,
    Zoom,
)  # fmt: skip

monai.utils.set_determinism(0)
image = numpy.random.RandomState(0).rand(24, 24).astype("float32")
steps = [EnsureChannelFirst(channel_dim="no_channel"), ScaleIntensity(), Resize((32, 32))]
prepared = Compose(steps)(image)
print("prepared", type(prepared).__name__, tuple(prepared.shape), prepared.mean().item())
for step in (
    Flip(0), Rotate90(), NormalizeIntensity(), GaussianSmooth(1.0), SpatialPad((40, 40)),
    Zoom(1.3), RandFlip(1.0, 1), RandGaussianNoise(1.0).set_random_state(0),
):  # fmt: skip
    out = step(prepared)
    print(type(step).__name__, tuple(out.shape), out[0, :5].sum().item(), out.std().item())
images = [{"image": prepared * k, "label": (prepared > 0.5).float()} for k in (0.5, 1.0, 1.5, 2.0)]
loader = monai.data.DataLoader(monai.data.CacheDataset(images, progress=False), batch_size=2)
net = monai.networks.nets.UNet(2, 1, 1, channels=(4, 8, 16), strides=(2, 2), num_res_units=1)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
dice = monai.losses.DiceCELoss(sigmoid=True)
for batch in loader:
    loss = dice(net(batch["image"]), batch["label"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
net.eval()
with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
    whole = monai.inferers.sliding_window_inference(prepared[None], (16, 16), 2, net, overlap=0.25)
    print("windows", tuple(whole.shape), whole.mean().item())
    metric = monai.metrics.DiceMetric()
    metric((whole > 0).float(), images[0]["label"][None])
    print("dice", metric.aggregate().item())
    torch.save(net.state_dict(), f"{folder}/net.pt")
    net.load_state_dict(torch.load(f"{folder}/net.pt"))
    print("again", net(prepared[None]).mean().item())
for name in ("SegResNet", "AttentionUnet", "DynUNet", "SwinUNETR")[:1]:
    other = getattr(monai.networks.nets, name)(spatial_dims=3, init_filters=8).eval()
    print(name, other(torch.ones(1, 1, 16, 16, 16)).mean().item())
print("hausdorff", monai.metrics.compute_hausdorff_distance(whole > 0, whole > 0.1).tolist())
