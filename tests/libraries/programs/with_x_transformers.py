"""Decoders and encoders with several of their options; a training step; generation."""

import torch
from x_transformers import Decoder, Encoder, TransformerWrapper, ViTransformerWrapper

ids = torch.arange(16).reshape(2, 8)
for options in (
    {},
    {"rotary_pos_emb": True},
    {"alibi_pos_bias": True},
    {"ff_glu": True, "use_rmsnorm": True},
):
    torch.manual_seed(0)
    layers = Decoder(dim=32, depth=2, heads=4, **options)
    model = TransformerWrapper(num_tokens=50, max_seq_len=16, attn_layers=layers)
    loss = model(ids).square().mean()
    loss.backward()
    print(
        options,
        loss.item(),
        sum(p.grad.abs().sum().item() for p in model.parameters() if p.grad is not None),
    )
torch.manual_seed(0)
vit = ViTransformerWrapper(
    image_size=16, patch_size=8, num_classes=3, attn_layers=Encoder(dim=16, depth=1, heads=2)
)
print("vit", vit(torch.linspace(0, 1, 768).reshape(1, 3, 16, 16)).tolist())
