# Each replica prints how many rows of the batch it was given.
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 2)

    def forward(self, x):
        print(f"  on {x.device}: {x.size(0)} rows")
        return self.fc(x)


torch.manual_seed(0)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
model = nn.DataParallel(Model()).to(device)
for rows in (30, 10, 2):
    print(f"a batch of {rows}")
    out = model(torch.randn(rows, 5).to(device))
    print(f"  result {tuple(out.shape)} on {out.device}")
out.sum().backward()
print("gradients add up on", model.module.fc.weight.grad.device)
