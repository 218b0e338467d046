"""A small detector: build, loss, steps, boxes without overlaps, save, load, fused layers."""

import os
import tempfile
import warnings

warnings.simplefilter("ignore")
os.environ["YOLO_CONFIG_DIR"] = tempfile.mkdtemp()
os.environ["YOLO_OFFLINE"] = "True"
os.environ["YOLO_AUTOINSTALL"] = "False"
os.environ["YOLO_VERBOSE"] = "False"

import torch  # noqa: E402
from ultralytics.cfg import get_cfg  # noqa: E402
from ultralytics.nn.tasks import DetectionModel  # noqa: E402
from ultralytics.utils.nms import non_max_suppression  # noqa: E402

torch.manual_seed(0)
model = DetectionModel("yolov8n.yaml", nc=2, verbose=False)
model.args = get_cfg()
print("parameters", sum(p.numel() for p in model.parameters()), model.stride.tolist())
batch = {
    "img": torch.rand(2, 3, 64, 64), "cls": torch.tensor([[0.0], [1.0], [1.0]]),
    "bboxes": torch.tensor([[0.5, 0.5, 0.4, 0.4], [0.3, 0.3, 0.2, 0.3], [0.7, 0.6, 0.3, 0.3]]),
    "batch_idx": torch.tensor([0.0, 0.0, 1.0]),
}  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
for _ in range(3):
    loss, parts = model(batch)
    optimizer.zero_grad()
    loss.sum().backward()
    optimizer.step()
    print("loss", loss.sum().item(), {k: float(v) for k, v in parts.items()})
with torch.no_grad():
    found = model.eval()(batch["img"])[0]
    print("found", tuple(found.shape), found[0, :, :2].tolist())
    kept = non_max_suppression(found, conf_thres=0.001, iou_thres=0.5, max_det=5)
    print("kept", [tuple(k.shape) for k in kept])
with tempfile.TemporaryDirectory() as folder:
    torch.save({"model": model.state_dict()}, f"{folder}/model.pt")
    again = DetectionModel("yolov8n.yaml", nc=2, verbose=False).eval()
    again.load_state_dict(torch.load(f"{folder}/model.pt")["model"])
    with torch.no_grad():
        print("again", torch.equal(again(batch["img"])[0], found))
    print("fused", again.fuse(verbose=False)(batch["img"])[0][0, :, :2].tolist())
