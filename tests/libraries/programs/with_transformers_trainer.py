"""transformers' Trainer on a small BERT and a toy data set: evaluation, checkpoints, resuming."""

import os
import tempfile

import torch
import transformers

transformers.set_seed(0)
transformers.utils.logging.set_verbosity_error()


class Toy(torch.utils.data.Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(count)
        self.ids = torch.randint(1, 50, (count, 8), generator=generator)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        ids = self.ids[index]
        return {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "labels": int(ids[0] > 25),
        }


def accuracy(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


config = transformers.BertConfig(
    vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=64, num_labels=2, hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)  # fmt: skip
model = transformers.BertForSequenceClassification(config)
with tempfile.TemporaryDirectory() as folder:
    arguments = transformers.TrainingArguments(
        folder, num_train_epochs=2, per_device_train_batch_size=8, per_device_eval_batch_size=16,
        learning_rate=2e-3, lr_scheduler_type="cosine", warmup_steps=2, weight_decay=0.01,
        logging_steps=4, eval_strategy="epoch", save_strategy="epoch", report_to=[],
        disable_tqdm=True, use_cpu=True, load_best_model_at_end=True, seed=1,
        gradient_accumulation_steps=2, max_grad_norm=1.0, label_smoothing_factor=0.1,
    )  # fmt: skip
    trainer = transformers.Trainer(
        model,
        arguments,
        train_dataset=Toy(64),
        eval_dataset=Toy(32),
        compute_metrics=accuracy,
        callbacks=[transformers.EarlyStoppingCallback(3)],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    result = trainer.train()
    print("steps", result.global_step, "loss", result.training_loss)
    for entry in trainer.state.log_history:
        kept = {k: v for k, v in entry.items() if "runtime" not in k and "per_second" not in k}
        print(sorted(kept.items()))
    print("evaluated", trainer.evaluate()["eval_loss"])
    print(sorted(name for name in os.listdir(folder) if name.startswith("checkpoint")))
    print("predicted", trainer.predict(Toy(4)).predictions.tolist())
    arguments.num_train_epochs = 3
    again = transformers.Trainer(
        transformers.BertForSequenceClassification(config),
        arguments,
        train_dataset=Toy(64),
        eval_dataset=Toy(32),
    )
    again.remove_callback(transformers.PrinterCallback)
    result = again.train(resume_from_checkpoint=True)
    print("resumed", result.global_step, again.evaluate()["eval_loss"])
