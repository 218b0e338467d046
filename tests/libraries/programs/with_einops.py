"""rearrange, reduce, repeat, einsum, pack, layers."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce

torch.manual_seed(0)
x = torch.randn(2, 3, 4, 4, requires_grad=True)
print("rearrange", rearrange(x, "b c (h a) (w d) -> b (c a d) h w", a=2, d=2).shape)
print("reduce", reduce(x, "b c h w -> b c", "max").tolist())
print("repeat", repeat(x[0, 0, 0], "w -> (w r)", r=2).tolist())
print("einsum", einsum(x, x, "b c h w, d c h w -> b d").tolist())
packed, shapes = pack([x[:, :, 0, 0], x[:, 0]], "b *")
print("pack", packed.shape, [p.shape for p in unpack(packed, shapes, "b *")])
layers = torch.nn.Sequential(
    Rearrange("b c h w -> b h w c"),
    EinMix("b h w c -> b h w d", "c d", c=3, d=2),
    Reduce("b h w d -> b d", "mean"),
)
layers(x).sum().backward()
print("layers", layers(x).tolist(), x.grad.abs().sum().item())
