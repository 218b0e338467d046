"""Graph convolutions on a small graph; a training step; a batch of graphs."""

import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    EdgeConv,
    GATConv,
    GCNConv,
    GINConv,
    PNAConv,
    SAGEConv,
    TopKPooling,
    global_mean_pool,
)
from torch_geometric.utils import add_self_loops, degree, to_dense_adj

torch.manual_seed(0)
edges = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
data = Data(x=torch.randn(4, 5), edge_index=edges, y=torch.tensor([0, 1, 0, 1]))
print(data, data.is_undirected(), degree(edges[0]).tolist(), add_self_loops(edges)[0].shape)
mlp = torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.ReLU())
for layer in (GCNConv(5, 3), GATConv(5, 3, heads=2), SAGEConv(5, 3), GINConv(mlp)):
    out = layer(data.x, edges)
    print(type(layer).__name__, out.tolist())
counts = torch.bincount(degree(edges[1]).long())
maxima = SAGEConv(5, 3, aggr="max"), EdgeConv(torch.nn.Linear(10, 3))
several = PNAConv(5, 3, ["mean", "max", "std"], ["identity", "amplification"], counts)
for layer in (*maxima, several):
    x = data.x.clone().requires_grad_()
    out = layer(x, edges)
    out.square().sum().backward()
    print(type(layer).__name__, out.tolist(), x.grad.tolist())
print("kept", [x.tolist() for x in TopKPooling(5)(data.x, edges) if x is not None])
model = GCNConv(5, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _step in range(3):
    loss = torch.nn.functional.cross_entropy(model(data.x, edges), data.y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
batch = Batch.from_data_list([data, data])
print(batch, global_mean_pool(batch.x, batch.batch).tolist(), to_dense_adj(edges).sum().item())
