# A tensor lives in the memory of one device; an operation wants all of its operands on the same.
import torch
from torch import nn

print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.get_device_name(0))
x = torch.tensor([1, 2, 3]).cuda()
y = x**2
print(y)
try:
    y + x.cpu()
except RuntimeError as error:
    print("RuntimeError:", error)
net = nn.Linear(3, 1).cuda()
print("parameters on", next(net.parameters()).device)
print(net(x.float()))
