"""A training loop through Accelerator, with accumulation and clipping; save and load."""

import tempfile

import accelerate
import torch

accelerate.utils.set_seed(0)
accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x = torch.randn(32, 4)
data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
loader = torch.utils.data.DataLoader(data, batch_size=8)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for _epoch in range(3):
    for a, b in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(a), b)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    print("loss", loss.item())
print("gathered", accelerator.gather(loss.detach()).tolist(), accelerator.num_processes)
with tempfile.TemporaryDirectory() as folder:
    accelerator.save_state(folder)
    before = model[0].bias.tolist()
    torch.nn.init.zeros_(model[0].bias)
    accelerator.load_state(folder)
    print("again", model[0].bias.tolist() == before)
with accelerate.init_empty_weights():
    print("empty", torch.nn.Linear(10, 10).weight.device)
