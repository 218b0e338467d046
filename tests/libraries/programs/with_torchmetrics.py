"""Metrics of classification, regression, images and text."""

import torch
import torchmetrics

torch.manual_seed(0)
scores, target = torch.rand(40, 4).softmax(1), torch.randint(4, (40,))
for name in ("Accuracy", "F1Score", "Precision", "Recall", "AUROC", "CohenKappa", "JaccardIndex"):
    metric = getattr(torchmetrics, name)(task="multiclass", num_classes=4)
    for part in range(0, 40, 10):
        metric.update(scores[part : part + 10], target[part : part + 10])
    print(name, metric.compute().item())
a, b = torch.rand(30), torch.rand(30)
for name in (
    "MeanSquaredError",
    "MeanAbsoluteError",
    "R2Score",
    "PearsonCorrCoef",
    "SpearmanCorrCoef",
):
    print(name, getattr(torchmetrics, name)()(a, b).item())
images = torch.rand(2, 3, 32, 32), torch.rand(2, 3, 32, 32)
print("psnr", torchmetrics.image.PeakSignalNoiseRatio(data_range=1.0)(*images).item())
print("ssim", torchmetrics.image.StructuralSimilarityIndexMeasure(data_range=1.0)(*images).item())
matrix = torchmetrics.ConfusionMatrix(task="multiclass", num_classes=4)
print("confusion", matrix(scores, target).tolist())
print("edit distance", torchmetrics.text.EditDistance()(["rain"], ["shine"]).item())
