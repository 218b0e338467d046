"""Filters, colours, geometry and augmentations of images."""

import kornia
import torch

torch.manual_seed(0)
x = torch.rand(1, 3, 16, 16)


def show(name, value):
    print(name, tuple(value.shape), value.mean().item(), value.std().item())


show("gaussian", kornia.filters.gaussian_blur2d(x, (3, 3), (1.0, 1.0)))
show("sobel", kornia.filters.sobel(x))
show("canny", kornia.filters.canny(x)[0])
show("median", kornia.filters.median_blur(x, (3, 3)))
show("gray", kornia.color.rgb_to_grayscale(x))
show("hsv", kornia.color.rgb_to_hsv(x))
show("lab", kornia.color.rgb_to_lab(x))
show("rotate", kornia.geometry.rotate(x, torch.tensor([30.0])))
show("resize", kornia.geometry.resize(x, (8, 12)))
show("warp", kornia.geometry.warp_perspective(x, torch.eye(3)[None] * 1.1, (16, 16)))
show("dilation", kornia.morphology.dilation(x, torch.ones(3, 3)))
show("ssim", kornia.losses.ssim_loss(x, x.flip(-1), 5))
show("equalize", kornia.enhance.equalize(x))
show("jitter", kornia.enhance.adjust_hue(x, 0.3))
show("flip", kornia.augmentation.RandomHorizontalFlip(p=1.0)(x))
