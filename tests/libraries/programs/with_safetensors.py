"""Tensors and models to files and back."""

import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save, save_file, save_model

torch.manual_seed(0)
tensors = {
    "a": torch.randn(2, 3), "b": torch.arange(5), "c": torch.ones(2, dtype=torch.bfloat16),
    "d": torch.tensor([True, False]), "e": torch.zeros(0, 3, dtype=torch.float16),
}  # fmt: skip
with tempfile.TemporaryDirectory() as folder:
    save_file(tensors, f"{folder}/a.safetensors", metadata={"of": "test"})
    for name, tensor in sorted(load_file(f"{folder}/a.safetensors").items()):
        print(name, tensor.dtype, tensor.tolist())
    with safe_open(f"{folder}/a.safetensors", "pt") as file:
        print(file.metadata(), sorted(file.keys()), file.get_slice("a")[:, 1:].tolist())
    model = torch.nn.Linear(3, 2)
    save_model(model, f"{folder}/b.safetensors")
    again = torch.nn.Linear(3, 2)
    print(load_model(again, f"{folder}/b.safetensors"), again.weight.tolist())
print(len(save(tensors)))
