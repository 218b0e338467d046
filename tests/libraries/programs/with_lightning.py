"""A LightningModule that Trainer fits, tests and saves."""

import tempfile

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Line(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.layer(x), y)
        self.log("loss", loss)
        return loss

    def test_step(self, batch, index):
        x, y = batch
        self.log("error", (self.layer(x) - y).abs().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


lightning.seed_everything(0, verbose=False)
x = torch.randn(32, 3)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
with tempfile.TemporaryDirectory() as folder:
    options = {"accelerator": "cpu", "logger": False, "enable_progress_bar": False}
    options |= {"enable_model_summary": False, "default_root_dir": folder}
    trainer = lightning.Trainer(max_epochs=3, enable_checkpointing=False, **options)
    model = Line()
    trainer.fit(model, loader)
    print("weight", model.layer.weight.tolist(), "loss", trainer.callback_metrics["loss"].item())
    print("test", trainer.test(model, loader, verbose=False)[0]["error"])
    trainer.save_checkpoint(f"{folder}/line.ckpt")
    again = Line.load_from_checkpoint(f"{folder}/line.ckpt")
    print("again", again.layer.bias.tolist(), trainer.global_step)
