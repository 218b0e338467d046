"""Losses, miners, a trained embedding and its accuracy; save and load of a loss's weights."""

import io

import torch
from pytorch_metric_learning import distances, losses, miners, reducers

torch.manual_seed(0)
x, labels = torch.randn(24, 6), torch.arange(24) % 4
net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 5))
cosine = distances.CosineSimilarity()
for loss in (
    losses.ContrastiveLoss(),
    losses.TripletMarginLoss(distance=cosine, reducer=reducers.ThresholdReducer(low=0)),
    losses.NTXentLoss(),
    losses.MultiSimilarityLoss(),
    losses.CircleLoss(),
    losses.ArcFaceLoss(4, 5),
    losses.ProxyAnchorLoss(4, 5),
    losses.SupConLoss(),
):
    print(type(loss).__name__, loss(net(x), labels).item())
miner = miners.MultiSimilarityMiner()
print("mined", [len(found) for found in miner(net(x), labels)])
print("mined", [len(found) for found in miners.TripletMarginMiner()(net(x), labels)])
loss = losses.ArcFaceLoss(4, 5)
optimizer = torch.optim.Adam([*net.parameters(), *loss.parameters()], lr=0.02)
for _step in range(5):
    optimizer.zero_grad()
    value = loss(net(x), labels, miner(net(x), labels))
    value.backward()
    optimizer.step()
    print("step", value.item())
file = io.BytesIO()
torch.save(loss.state_dict(), file)
again = losses.ArcFaceLoss(4, 5)
again.load_state_dict(torch.load(io.BytesIO(file.getvalue())))
print("again", again(net(x), labels).item())
print("triplets", losses.TripletMarginLoss()(net(x), labels).item())
