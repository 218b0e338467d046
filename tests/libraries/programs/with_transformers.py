"""BERT, GPT-2 and Llama of two small layers; a training step; save, load, generate."""

import tempfile

import torch
import transformers

torch.manual_seed(0)
small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}
ids = torch.arange(12).reshape(2, 6) % 100
bert = transformers.BertForSequenceClassification(
    transformers.BertConfig(**small, intermediate_size=64)
).eval()
print("bert", bert(ids).logits.tolist())
loss = bert(ids, labels=torch.tensor([0, 1])).loss
loss.backward()
print("loss", loss.item(), sum(p.grad.abs().sum().item() for p in bert.parameters()))
torch.optim.AdamW(bert.parameters(), lr=1e-2).step()
print("after a step", bert(ids, labels=torch.tensor([0, 1])).loss.item())
with tempfile.TemporaryDirectory() as folder:
    bert.save_pretrained(folder)
    again = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
print("again", (again(ids).logits - bert(ids).logits).abs().max().item())
gpt2 = transformers.GPT2LMHeadModel(
    transformers.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=100)
).eval()
print("gpt2", gpt2(ids, labels=ids).loss.item())
made = gpt2.generate(ids, max_new_tokens=5, do_sample=False, pad_token_id=0)
print("generated", made.tolist())
llama = transformers.LlamaForCausalLM(
    transformers.LlamaConfig(**small, intermediate_size=64, num_key_value_heads=2)
).eval()
print("llama", llama(ids, labels=ids).loss.item())
