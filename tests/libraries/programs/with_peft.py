"""LoRA on a small network and on a Llama: train, merge, save and load the adapter."""

import tempfile

import peft
import torch
import transformers

torch.manual_seed(0)
ids = torch.arange(12).reshape(2, 6) % 100
config = transformers.LlamaConfig(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    vocab_size=100, intermediate_size=64,
)  # fmt: skip
base = transformers.LlamaForCausalLM(config).eval()
state = {name: value.clone() for name, value in base.state_dict().items()}
lora = peft.LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], lora_dropout=0.0)
model = peft.get_peft_model(base, lora)
print("trainable", model.get_nb_trainable_parameters())
optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-2)
losses = []
for _ in range(4):
    loss = model(ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print("losses", losses)
with model.disable_adapter():
    print("without", model(ids, labels=ids).loss.item())
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    other = transformers.LlamaForCausalLM(config).eval()
    other.load_state_dict(state)
    again = peft.PeftModel.from_pretrained(other, folder)
    print("again", again(ids, labels=ids).loss.item())
merged = model.merge_and_unload()
print("merged", merged(ids, labels=ids).loss.item(), type(merged).__name__)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
x = torch.randn(3, 8)
for kind in (peft.LoHaConfig, peft.LoKrConfig, peft.IA3Config):
    options = {"feedforward_modules": []} if kind is peft.IA3Config else {"init_weights": False}
    torch.manual_seed(1)
    tuned = peft.get_peft_model(net, kind(target_modules=["0"], **options))
    out = tuned(x)
    out.sum().backward()
    print(kind.__name__, out.tolist())
    net = tuned.unload()
