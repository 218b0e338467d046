"""Vision transformers: outputs, a training step, save and load."""

import io

import torch
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.deepvit import DeepViT
from vit_pytorch.vit_for_small_dataset import ViT as SmallViT

torch.manual_seed(0)
images, labels = torch.randn(2, 3, 32, 32), torch.tensor([1, 3])
small = {"image_size": 32, "patch_size": 8, "num_classes": 5, "dim": 32, "depth": 2, "heads": 2}
models = {
    "ViT": ViT(**small, mlp_dim=64),
    "SimpleViT": SimpleViT(**small, mlp_dim=64),
    "DeepViT": DeepViT(**small, mlp_dim=64),
    "CaiT": CaiT(**small, mlp_dim=64, cls_depth=1),
    "SmallViT": SmallViT(**small, mlp_dim=64),
}
for name, model in models.items():
    print(name, model(images).tolist())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    after = torch.nn.functional.cross_entropy(model(images), labels)
    print("loss", loss.item(), "after a step", after.item())
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    model.load_state_dict(torch.load(io.BytesIO(file.getvalue())))
    print("again", model.eval()(images)[0].tolist())
