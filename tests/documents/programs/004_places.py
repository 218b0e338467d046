# Code of document 004, as it stands there.
import torch

# %%
#先检测设备上是否有GPU设备
has_cuda = torch.cuda.is_available()

#根据是否有GPU，创建设备
#torch.device()传入的设备名称字符串要求：Expected one of
#cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, ort, mps, xla, lazy, vulkan, meta, hpu
if has_cuda:
    my_device = torch.device('cuda')
    print('found cuda,return cuda device')
else:
    my_device = torch.device('cpu')
    print('No cuda,return cpu device')

# %%
#在device上创建数据
train_data = torch.Tensor([1,2,3],device=my_device)

#判断创建的数据是否在cuda上
print(train_data.is_cuda)
#或者是
print(train_data.device)

# %%
#在device上创建torch.nn库下已经实现的网络模型
my_model1 = torch.nn.Conv2d(16,32,2,device=my_device)

#检查模型是否在cuda设备上：不能直接检查模型的位置，但是可以通过检查模型参数的位置来判断
next(my_model1.parameters()).device
next(my_model1.parameters()).is_cuda

# %%
#在device上创建自定义的网络模型，同样需要对网络层指定device=关键字参数
class My_Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = torch.nn.Sequential(torch.nn.Conv2d(16,32,2,device=my_device))
    def forward(self,x):
        return self.cnn(x)

#检查模型是否在cuda上
my_model2 = My_Model()
next(my_model2.parameters()).device

# %%
#在device上创建损失函数：torch.nn下的已有的损失函数没有device参数，但是所有的损失函数都是继承自torch.nn.Module类
#而torch.nn.Module基类有一个cuda()函数，功能是将模型上的所有参数和缓存都移动到cuad上
#所以损失函数只能在创建后再转移到cuda上
my_loss = torch.nn.MSELoss()
my_loss.cuda()

# %%
#使用默认设备创建数据、网络模型、损失模型
data2 = torch.Tensor([1,2,3])
model2 = torch.nn.Conv2d(16,32,2)
loss2 = torch.nn.MSELoss()

cuda_list = []
cuda_list.append(data2)
cuda_list.append(model2)
cuda_list.append(loss2)

#使用.cuda()函数，将需要的内容转移到GPU上
for content in cuda_list:
    content.cuda()
