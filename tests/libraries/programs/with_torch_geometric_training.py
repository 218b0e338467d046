"""Graph networks trained: GAT and SAGE on one graph, graph classification, links, sampling."""

import random

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.data import Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    GAE,
    GATConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    HeteroConv,
    MessagePassing,
    SAGEConv,
    TransformerConv,
    global_add_pool,
)  # fmt: skip
from torch_geometric.transforms import AddSelfLoops, Compose, NormalizeFeatures, ToUndirected
from torch_geometric.utils import negative_sampling, scatter, softmax, subgraph, to_undirected

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
edges = to_undirected(torch.randint(30, (2, 60)))
labels = torch.arange(30) % 3
data = Data(x=torch.rand(30, 8) + F.one_hot(labels, 8), edge_index=edges, y=labels)
data = Compose([NormalizeFeatures(), ToUndirected(), AddSelfLoops()])(data)
data.train_mask = torch.arange(30) < 20
print(data, data.has_self_loops(), data.num_edges)


class Net(torch.nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.first = kind(8, 8, **options)
        self.second = kind(8 * options.get("heads", 1), 3)

    def forward(self, x, edge_index):
        return self.second(F.elu(self.first(x, edge_index)), edge_index)


for kind, options in (
    (GATConv, {"heads": 2}), (GATv2Conv, {"heads": 2}), (TransformerConv, {"heads": 2}),
    (SAGEConv, {"aggr": "max"}), (SAGEConv, {"aggr": "lstm"}), (GCNConv, {}),
):  # fmt: skip
    torch.manual_seed(1)
    model = Net(kind, **options)
    inputs = data.sort(sort_by_row=False) if options.get("aggr") == "lstm" else data
    if kind is SAGEConv and options["aggr"] == "lstm":
        model.second = SAGEConv(8, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for _epoch in range(10):
        optimizer.zero_grad()
        out = model(inputs.x, inputs.edge_index)
        loss = F.cross_entropy(out[inputs.train_mask], inputs.y[inputs.train_mask])
        loss.backward()
        optimizer.step()
    print(kind.__name__, loss.item(), (out.argmax(1) == inputs.y).sum().item())
graphs = []
for number in range(12):
    size = 4 + number % 3
    ring = torch.stack([torch.arange(size), (torch.arange(size) + 1) % size])
    graphs.append(
        Data(x=torch.rand(size, 4), edge_index=to_undirected(ring), y=torch.tensor([number % 2]))
    )
convs = torch.nn.ModuleList(
    GINConv(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())) for _ in range(2)
)
head = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD([*convs.parameters(), *head.parameters()], lr=0.05)
for batch in DataLoader(graphs, batch_size=4, shuffle=True):
    x = batch.x
    for conv in convs:
        x = conv(x, batch.edge_index)
    loss = F.cross_entropy(head(global_add_pool(x, batch.batch)), batch.y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("batch", batch.num_graphs, batch.ptr.tolist(), loss.item())
torch.manual_seed(2)
auto = GAE(GCNConv(8, 4))
z = auto.encode(data.x, data.edge_index)
missing = negative_sampling(data.edge_index, data.num_nodes, 40)
print("links", auto.recon_loss(z, data.edge_index, missing).item())
print("sub", subgraph(torch.arange(10), edges, relabel_nodes=True)[0].shape)
print("softmax", softmax(torch.arange(6.0), torch.tensor([0, 0, 1, 1, 1, 2])).tolist())
print(
    "scatter", scatter(torch.arange(6.0), torch.tensor([0, 0, 1, 1, 1, 2]), reduce="mean").tolist()
)
hetero = HeteroData()
hetero["paper"].x, hetero["author"].x = torch.rand(5, 8), torch.rand(4, 8)
hetero["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 2, 3], [0, 1, 4, 2]])
hetero["paper", "by", "author"].edge_index = torch.tensor([[0, 1, 4, 2], [0, 1, 2, 3]])
conv = HeteroConv({kind: SAGEConv((8, 8), 2) for kind in hetero.edge_types}, aggr="sum")
out = conv(hetero.x_dict, hetero.edge_index_dict)
print("hetero", {name: value.sum().item() for name, value in out.items()})


class Edge(MessagePassing):
    def __init__(self):
        super().__init__(aggr=["mean", "max", "std"])

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=x)

    def message(self, x_i, x_j):
        return x_j - x_i


print("edge", Edge()(data.x, data.edge_index).sum(0).tolist())
assert InMemoryDataset.collate(graphs)[0].num_nodes
