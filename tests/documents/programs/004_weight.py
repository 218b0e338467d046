# Code of document 004, as it stands there.
import torch
from torch import nn

'''loss函数模型需要放到GPU上的例子'''

output = torch.randn(10, 10, requires_grad=True, device='cuda')
target = torch.randint(0, 10, (10,), device='cuda')

#这里为损失函数增加了权重，参与了矩阵运算
weight = torch.empty(10).uniform_(0, 1)
criterion = nn.CrossEntropyLoss(weight=weight)

loss = criterion(output, target) # error

criterion.cuda()
loss = criterion(output, target) # works
