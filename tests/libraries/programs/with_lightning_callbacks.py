"""Lightning with validation, callbacks, a scheduler, a logger, torchmetrics, and a resumed run."""

import csv
import tempfile

import lightning
import torch
import torchmetrics
from lightning.pytorch import callbacks, loggers


class Classifier(lightning.LightningModule):
    def __init__(self, width=16, rate=0.02):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(6, width, bias=False), torch.nn.BatchNorm1d(width), torch.nn.ReLU(),
            torch.nn.Linear(width, 3),
        )  # fmt: skip
        metrics = torchmetrics.MetricCollection(
            {
                "accuracy": torchmetrics.Accuracy(task="multiclass", num_classes=3),
                "f1": torchmetrics.F1Score(task="multiclass", num_classes=3, average="macro"),
            }
        )
        self.train_metrics = metrics.clone(prefix="train_")
        self.val_metrics = metrics.clone(prefix="val_")

    def training_step(self, batch, index):
        x, y = batch
        scores = self.net(x)
        loss = torch.nn.functional.cross_entropy(scores, y)
        self.log_dict(self.train_metrics(scores, y), on_step=False, on_epoch=True)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        scores = self.net(x)
        self.val_metrics.update(scores, y)
        self.log("val_loss", torch.nn.functional.cross_entropy(scores, y))

    def on_validation_epoch_end(self):
        self.log_dict(self.val_metrics.compute())
        self.val_metrics.reset()

    def predict_step(self, batch, index):
        return self.net(batch[0]).argmax(1)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.rate)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=40)
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]


class Data(lightning.LightningDataModule):
    def setup(self, stage):
        x = torch.randn(96, 6, generator=torch.Generator().manual_seed(0))
        data = torch.utils.data.TensorDataset(x, x[:, :3].argmax(1))
        split = torch.Generator().manual_seed(1)
        self.train, self.val = torch.utils.data.random_split(data, [64, 32], generator=split)

    def train_dataloader(self):
        return torch.utils.data.DataLoader(self.train, batch_size=16, shuffle=True)

    def val_dataloader(self):
        return torch.utils.data.DataLoader(self.val, batch_size=16)

    predict_dataloader = val_dataloader


lightning.seed_everything(0, verbose=False)
with tempfile.TemporaryDirectory() as folder:
    best = callbacks.ModelCheckpoint(
        dirpath=folder, monitor="val_loss", save_top_k=2, save_last=True, filename="{epoch}"
    )
    watching = [
        best,
        callbacks.EarlyStopping("val_loss", patience=3),
        callbacks.LearningRateMonitor("step"),
        callbacks.StochasticWeightAveraging(swa_lrs=0.01, swa_epoch_start=4),
    ]
    options = {
        "accelerator": "cpu", "enable_progress_bar": False, "enable_model_summary": False,
        "default_root_dir": folder, "log_every_n_steps": 1,
    }  # fmt: skip
    trainer = lightning.Trainer(
        max_epochs=6, callbacks=watching, logger=loggers.CSVLogger(folder, "", ""),
        gradient_clip_val=0.5, accumulate_grad_batches=2, **options,
    )  # fmt: skip
    model, data = Classifier(), Data()
    trainer.fit(model, data)
    for name, value in sorted(trainer.callback_metrics.items()):
        print(name, value.item())
    print("best", best.best_model_score.item(), best.best_model_path.rsplit("/", 1)[1])
    with open(f"{folder}/metrics.csv") as file:
        rows = [row for row in csv.DictReader(file) if row.get("lr-AdamW")]
    print("rates", [float(row["lr-AdamW"]) for row in rows][:12])
    again = Classifier.load_from_checkpoint(best.best_model_path, rate=0.1)
    print("hparams", dict(again.hparams), again.net[0].weight.sum().item())
    print("predicted", torch.cat(trainer.predict(model, data)).tolist())
    more = lightning.Trainer(max_epochs=8, logger=False, enable_checkpointing=False, **options)
    more.fit(Classifier(), data, ckpt_path=f"{folder}/last.ckpt")
    print("resumed", more.global_step, more.callback_metrics["val_loss"].item())
    print("validated", more.validate(more.lightning_module, data, verbose=False)[0]["val_loss"])
