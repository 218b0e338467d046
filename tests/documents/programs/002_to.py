# Code of document 002, as it stands there.
import torch

x = torch.ones((3,3))
print(x.dtype)
x = x.to(torch.float64)
print(x.dtype)

# 首先导入库，获取 GPU 的 device
import torch
import torch.nn as nn
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
print(device)

# 下面的代码是执行Tensor的to()方法
x_cpu = torch.ones((3, 3))

print("x_cpu:\ndevice: {} is_cuda: {} id: {}".format(x_cpu.device, x_cpu.is_cuda, id(x_cpu)))

x_gpu = x_cpu.to(device)
print("x_gpu:\ndevice: {} is_cuda: {} id: {}".format(x_gpu.device, x_gpu.is_cuda, id(x_gpu)))
