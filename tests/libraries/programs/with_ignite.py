"""An engine that trains, another that evaluates; metrics, handlers."""

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import EarlyStopping
from ignite.metrics import Accuracy, ConfusionMatrix, Loss, Precision

torch.manual_seed(0)
x = torch.randn(40, 4)
y = (x.sum(1) > 0).long()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=10)
model = torch.nn.Linear(4, 2)
loss = torch.nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, torch.optim.SGD(model.parameters(), lr=0.5), loss)
metrics = {
    "accuracy": Accuracy(), "loss": Loss(loss), "precision": Precision(average=True),
    "confusion": ConfusionMatrix(2),
}  # fmt: skip
evaluator = create_supervised_evaluator(model, metrics)
evaluator.add_event_handler(
    Events.COMPLETED, EarlyStopping(2, lambda engine: -engine.state.metrics["loss"], trainer)
)


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    found = evaluator.run(loader).metrics
    print(engine.state.epoch, engine.state.output, found["accuracy"], found["loss"])
    print(found["precision"], found["confusion"].tolist())


trainer.run(loader, max_epochs=3)
print(trainer.state.iteration, model.weight.tolist())
