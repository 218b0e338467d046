"""A LightningModule that Trainer fits, with callbacks, validation, a checkpoint and a schedule."""

import tempfile

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset


class Classifier(pl.LightningModule):
    def __init__(self, width=8, lr=0.05):
        super().__init__()
        self.save_hyperparameters()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, 3)
        )

    def training_step(self, batch, index):
        loss = torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, index):
        loss = torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
        self.log("val_loss", loss)

    def predict_step(self, batch, index):
        return self.layers(batch[0]).argmax(1)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 2)]


pl.seed_everything(1, verbose=False)
x = torch.randn(48, 4)
data = TensorDataset(x, x[:, :3].argmax(1))
loader = DataLoader(data, batch_size=8, shuffle=True)
check = DataLoader(data, batch_size=16)
with tempfile.TemporaryDirectory() as folder:
    options = {"accelerator": "cpu", "logger": False, "enable_progress_bar": False}
    options |= {"enable_model_summary": False, "default_root_dir": folder}
    best = ModelCheckpoint(folder, monitor="val_loss")
    stop = EarlyStopping("val_loss", patience=2)
    trainer = pl.Trainer(
        max_epochs=4, callbacks=[best, stop], gradient_clip_val=0.5, accumulate_grad_batches=2,
        **options,
    )  # fmt: skip
    model = Classifier(width=6)
    trainer.fit(model, loader, check)
    print("loss", trainer.callback_metrics["loss"].item(), best.best_model_score.item())
    again = Classifier.load_from_checkpoint(best.best_model_path)
    print("hparams", dict(again.hparams), again.layers[2].bias.tolist())
    classes = torch.cat(trainer.predict(again, check))
    print("classes", classes.bincount().tolist())
    print("validate", trainer.validate(again, check, verbose=False)[0]["val_loss"])
    trainer = pl.Trainer(max_epochs=5, enable_checkpointing=False, **options)
    trainer.fit(model, loader, check, ckpt_path=best.best_model_path)
    print("resumed", trainer.current_epoch, trainer.callback_metrics["val_loss"].item())
