"""Small image models: build, forward, a training step, save and load."""

import io

import timm
import timm.optim
import torch

x = torch.linspace(-1, 1, 2 * 3 * 64 * 64).reshape(2, 3, 64, 64)
for name in ("resnet10t", "vit_tiny_patch16_224", "mobilenetv3_small_050", "convnext_atto"):
    torch.manual_seed(0)
    size = {"img_size": 64} if name.startswith("vit") else {}
    model = timm.create_model(name, num_classes=4, **size)
    print(name, sum(p.numel() for p in model.parameters()))
    print(name, model.eval()(x).tolist())
    model.train()
    loss = torch.nn.functional.cross_entropy(model.eval()(x), torch.tensor([1, 3]))
    loss.backward()
    timm.optim.create_optimizer_v2(model, "adamw", lr=1e-3).step()
    print(name, loss.item(), model(x).tolist())
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    print(name, model.load_state_dict(torch.load(file)))
