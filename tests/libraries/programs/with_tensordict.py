"""Dictionaries of tensors: shapes, indexing, modules, a training step, save and load."""

import tempfile

import torch
from tensordict import TensorDict, tensorclass
from tensordict.nn import TensorDictModule, TensorDictSequential

torch.manual_seed(0)
data = TensorDict({"x": torch.randn(6, 4), "inner": {"y": torch.arange(6.0)}}, batch_size=[6])
print(data.shape, sorted(map(str, data.keys(True, True))), data[2:4]["x"].tolist())
print("stacked", torch.stack([data, data + 1], 0).shape, torch.cat([data, data], 0).shape)
print("changed", (data * 2)["inner", "y"].tolist(), data.reshape(2, 3)["x"].shape)
print("flat", data.flatten_keys(".").select("inner.y").to_dict(), data.split(4)[1].shape)
first = TensorDictModule(torch.nn.Linear(4, 8), in_keys=["x"], out_keys=["h"])
last = TensorDictModule(torch.nn.Linear(8, 1), in_keys=["h"], out_keys=["p"])
net = TensorDictSequential(first, TensorDictModule(torch.tanh, ["h"], ["h"]), last)
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for _step in range(3):
    optimizer.zero_grad()
    found = net(data.clone())
    loss = (found["p"].squeeze(-1) - data["inner", "y"]).square().mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
weights = TensorDict.from_module(net)
print("weights", sorted(".".join(key) for key in weights.keys(True, True)))
with (weights * 0).to_module(net):
    print("zero weights", net(data.clone())["p"].abs().sum().item())
with tempfile.TemporaryDirectory() as folder:
    torch.save(data.to_dict(), f"{folder}/data.pt")
    print("loaded", torch.load(f"{folder}/data.pt")["inner"]["y"].tolist())


@tensorclass
class Point:
    at: torch.Tensor
    name: str


point = Point(at=torch.ones(3, 2), name="p", batch_size=[3])
print("class", point[1:].at.shape, point.name, (point + 1).at.sum().item())
