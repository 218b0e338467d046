"""transformers: models laid out over two GPUs where there are two, by device_map."""

import tempfile

import torch
from accelerate import dispatch_model
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

gpus = torch.cuda.device_count() >= 2
ids = torch.arange(24).reshape(2, 12) % 50
small = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4}


def layout(model):
    """How many devices the parameters lie on; 2 where there is no GPU."""
    return len({p.device for p in model.parameters()}) if gpus else 2


torch.manual_seed(0)
config = GPT2Config(vocab_size=50, n_embd=32, n_layer=4, n_head=4, n_positions=32)
with tempfile.TemporaryDirectory() as folder:
    GPT2LMHeadModel(config).save_pretrained(folder)
    hand = {"transformer.wte": 0, "lm_head": 0, "transformer.wpe": 0, "transformer.drop": 0}
    hand |= {f"transformer.h.{i}": i // 2 for i in range(4)} | {"transformer.ln_f": 1}
    for device_map in (hand, "balanced"):
        limits = {"max_memory": {0: 80_000, 1: 400_000}} if device_map == "balanced" else {}
        where = {"device_map": device_map, **limits} if gpus else {}
        model = GPT2LMHeadModel.from_pretrained(folder, **where).eval()
        with torch.no_grad():
            logits = model(ids).logits
        print("gpt2", layout(model), logits.shape, logits[0, 5, :6].tolist())
        made = model.generate(ids[:, :4].to(model.device), max_new_tokens=6, do_sample=False)
        print("generated", made.tolist())

model = BertModel(BertConfig(vocab_size=50, num_hidden_layers=4, **small)).eval()
if gpus:
    layers = {f"encoder.layer.{i}": i // 2 for i in range(4)}
    model = dispatch_model(model, {"embeddings": 0, **layers, "pooler": 1})
loss = model(ids).last_hidden_state[..., :3].exp().mean()
loss.backward()
print("bert", layout(model), loss.item())
print("gradient", sum(p.grad.abs().sum().item() for p in model.encoder.parameters()))
