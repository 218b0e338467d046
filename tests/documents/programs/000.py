# Code of document 000, as it stands there.
import torch
import torch.nn as nn

torch.cuda.device_count() #查看gpu数量

from torch.utils.data import Dataset,DataLoader #数据集、数据加载的父类方法
#参数
input_size = 5 #数据的形状
batch_size = 30 #一批数据的数量
data_size = 100 #数据的总数量：分成三批30+10
output_size = 2

# 实验数据生成，包装成Dataloader
class RandomDataset(Dataset):
    def __init__(self,input_size,data_size):
        self.len = data_size
        self.data = torch.randn(data_size,input_size) #生成100*5的数据
    def __getitem__(self,index):
        return self.data[index]
    def __len__(self):
        return self.len

#定义一个模型
class Model(nn.Module):
    def __init__(self,input_size,output_size):
        super(Model,self).__init__()
        self.fc = nn.Linear(input_size,output_size) #一个线性层，输入形状为5，输出形状为2
    def forward(self,input):
        output = self.fc(input)#输入线性映射到输出
        print("\tIn Model: input_size",input.size(),"Output size",output.size())
        return output

device = torch.device("cuda:0"if torch.cuda.is_available() else "cpu") #指定设备
#生成100个长度为5的数据，并打乱顺序，每30个为一批
rand_loader = DataLoader(dataset= RandomDataset(input_size,data_size),batch_size=batch_size,shuffle=True)
model = Model(input_size,output_size)#创建模型
model = nn.DataParallel(model)# 当有多个GPU时，通过DataParallel包裹模型，放到多GPU上并行运行
model.to(device) #将模型放到多GPU里
#100个数据分四次在多GPU上跑完：30、30、30、10，每一批数据将会根据GPU的数量平均分配任务
#这里只有一个GPU，所以跑第一批数据时模型会期望获得30个输入和输出，若两个GPU则为每个GPU15个输入和输出
for data in rand_loader:
    input = data.to(device) #将一批数据30*5复制后放到GPU上
    output = model(input)
    print(input)
    print(output)
