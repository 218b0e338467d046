"""timm's data configuration, augmentation, mixup, schedulers, an averaged model, features."""

import random

import numpy as np
import timm
import timm.data
import timm.loss
import timm.optim
import timm.scheduler
import timm.utils
import torch
from PIL import Image

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
model = timm.create_model("resnet10t", num_classes=5, in_chans=3, drop_path_rate=0.0)
config = timm.data.resolve_data_config({"input_size": (3, 64, 64)}, model=model)
print(sorted((k, str(v)) for k, v in config.items()))
picture = Image.fromarray((np.arange(90 * 70 * 3) % 253).astype(np.uint8).reshape(90, 70, 3))
still = timm.data.create_transform(**config)
print(type(still).__name__, still(picture).shape, still(picture).mean().item())
moving = timm.data.create_transform(
    **config, is_training=True, auto_augment="rand-m5-n2-mstd0.5", re_prob=0.5, color_jitter=0.3
)
torch.manual_seed(1)
print("augmented", moving(picture).shape)
mixup = timm.data.Mixup(mixup_alpha=0.4, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=5)
optimizer = timm.optim.create_optimizer_v2(model, "lamb", lr=5e-3, weight_decay=0.02)
scheduler, epochs = timm.scheduler.create_scheduler_v2(
    optimizer, sched="cosine", num_epochs=4, warmup_epochs=1, warmup_lr=1e-4, min_lr=1e-5
)
average = timm.utils.ModelEmaV3(model, decay=0.9)
criterion = timm.loss.SoftTargetCrossEntropy()
x, y = torch.randn(8, 3, 64, 64), torch.arange(8) % 5
meter = timm.utils.AverageMeter()
model.train()
for epoch in range(epochs):
    mixed, soft = mixup(x.clone(), y)
    loss = criterion(model(mixed), soft)
    optimizer.zero_grad()
    loss.backward(create_graph=False)
    norm = timm.utils.dispatch_clip_grad(model.parameters(), 1.0, mode="norm")
    optimizer.step()
    average.update(model, step=epoch)
    scheduler.step(epoch + 1)
    meter.update(loss.item(), len(x))
    print("epoch", epoch, loss.item(), optimizer.param_groups[0]["lr"], soft.sum().item())
print("meter", meter.avg, timm.utils.accuracy(model.eval()(x), y, topk=(1, 3))[1].item())
print("average", average.module.eval()(x).std().item())
features = timm.create_model("resnet10t", features_only=True, out_indices=(1, 2, 3))
print("features", [tuple(f.shape) for f in features(x)], features.feature_info.channels())
for name in ("lion", "adopt", "madgrad", "nadamw", "adan", "rmsproptf", "adafactorbv", "laprop"):
    torch.manual_seed(2)
    layer = torch.nn.Linear(4, 3)
    stepper = timm.optim.create_optimizer_v2(layer, name, lr=1e-2)
    for _step in range(3):
        stepper.zero_grad()
        layer(torch.ones(2, 4)).square().sum().backward()
        stepper.step()
    print(name, layer.weight.sum().item())
vit = timm.create_model("vit_tiny_patch16_224", img_size=64, num_classes=0, global_pool="avg")
tokens = vit.forward_intermediates(x, indices=2, intermediates_only=True, norm=True)
print("vit", vit(x).shape, [tuple(t.shape) for t in tokens], len(vit.get_classifier().state_dict()))
loss = timm.loss.AsymmetricLossMultiLabel()(torch.ones(2, 3), torch.eye(3)[:2])
print(
    "asymmetric", loss.item(), timm.loss.JsdCrossEntropy(3)(torch.eye(6, 5), torch.arange(2)).item()
)
