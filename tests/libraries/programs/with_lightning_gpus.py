"""Trainer on two processes, each with a GPU of its own where there are two."""

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Line(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        assert batch[0].device == self.layer.weight.device == self.device
        if torch.cuda.is_available():
            assert self.device == torch.device("cuda", self.global_rank)
        loss = (self.layer(batch[0]) - batch[1]).square().mean()
        self.log("loss", loss, on_epoch=True, on_step=False, sync_dist=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


if __name__ == "__main__":
    lightning.seed_everything(0, verbose=False)
    model = Line()
    x = torch.randn(32, 4)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4)
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="auto", devices=2, strategy="ddp", logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(model, loader)
    if trainer.global_rank == 0:
        print("world", trainer.world_size, "weight", model.layer.weight.tolist())
        print("loss", trainer.callback_metrics["loss"].item())
