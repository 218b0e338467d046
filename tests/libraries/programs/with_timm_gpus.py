"""DataParallel of models of timm: two GPUs share each batch where there are two."""

import timm
import torch

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
x = torch.linspace(-1, 1, 4 * 3 * 64 * 64).reshape(4, 3, 64, 64).to(device)
labels = torch.tensor([1, 3, 0, 2], device=device)
for name in ("resnet10t", "vit_tiny_patch16_224", "convnext_atto"):
    torch.manual_seed(0)
    size = {"img_size": 64} if name.startswith("vit") else {}
    model = timm.create_model(name, num_classes=4, **size).to(device)
    seen = set()
    model.register_forward_pre_hook(lambda module, args, seen=seen: seen.add(args[0].device))
    parallel = torch.nn.DataParallel(model.eval())
    print(name, parallel(x).tolist())
    assert len(seen) == max(1, torch.cuda.device_count()), seen
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.01)
    for _ in range(2):
        loss = torch.nn.functional.cross_entropy(parallel(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(name, loss.item())
    print(name, parallel.state_dict().keys() == {f"module.{k}" for k in model.state_dict()})
