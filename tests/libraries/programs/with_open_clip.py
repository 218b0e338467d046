"""A small CLIP: features of images and texts, the contrastive loss, steps, save and load."""

import tempfile

import open_clip
import torch
from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

torch.manual_seed(0)
vision = CLIPVisionCfg(layers=2, width=32, head_width=8, image_size=32, patch_size=8)
text = CLIPTextCfg(context_length=16, width=32, heads=4, layers=2)
model = CLIP(embed_dim=16, vision_cfg=vision, text_cfg=text)
images = torch.randn(3, 3, 32, 32)
tokenizer = open_clip.SimpleTokenizer(context_length=16)
tokens = tokenizer(["a cat", "two dogs run", "the blue house on a hill"])
print("tokens", tokens[:, :8].tolist())
loss_of = open_clip.ClipLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(3):
    loss = loss_of(*model(images, tokens))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
model.eval()
with torch.no_grad():
    picture = model.encode_image(images, normalize=True)
    words = model.encode_text(tokens, normalize=True)
print("probabilities", (100 * picture @ words.T).softmax(-1).tolist())
with tempfile.TemporaryDirectory() as folder:
    torch.save(model.state_dict(), f"{folder}/clip.pt")
    again = CLIP(embed_dim=16, vision_cfg=vision, text_cfg=text).eval()
    again.load_state_dict(torch.load(f"{folder}/clip.pt"))
    print("again", (again.encode_image(images, normalize=True) - picture).abs().max().item())
resnet = CLIPVisionCfg(layers=(1, 1, 1, 1), width=16, image_size=32)
model = CLIP(embed_dim=16, vision_cfg=resnet, text_cfg=text)
print("resnet", model.encode_image(images).std().item())
print("models", len(open_clip.list_models()) > 50)
transform = open_clip.image_transform(32, is_train=False)
print("transform", type(transform).__name__, len(transform.transforms))
