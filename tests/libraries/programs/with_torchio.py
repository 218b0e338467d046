"""Transforms of medical volumes."""

import torch
import torchio

torch.manual_seed(0)
subject = torchio.Subject(
    image=torchio.ScalarImage(tensor=torch.rand(1, 16, 16, 16)),
    label=torchio.LabelMap(tensor=(torch.rand(1, 16, 16, 16) > 0.5).float()),
)
for transform in (
    torchio.RandomFlip(axes=0, flip_probability=1.0),
    torchio.RandomAffine(),
    torchio.RandomNoise(),
    torchio.ZNormalization(),
    torchio.RandomBlur(),
    torchio.CropOrPad(8),
    torchio.RandomElasticDeformation(num_control_points=5, max_displacement=1),
    torchio.RandomBiasField(),
    torchio.RandomGhosting(),
):
    torch.manual_seed(1)
    made = transform(subject)
    sums = made.image.data.sum().item(), made.label.data.sum().item()
    print(type(transform).__name__, made.image.shape, *sums)
print("patches", len(torchio.GridSampler(subject, 8, 0)))
