"""Programs with sparse tensors as people write them: each prints its losses. `torch` is either
library.
"""

import math

import numpy as np

EPOCHS = 6


def graph(nodes, edges, seed=0):
    """A random graph as (rows, columns), without repetitions."""
    random = np.random.RandomState(seed)
    pairs = {tuple(random.randint(0, nodes, 2)) for _ in range(edges)}
    return np.array(sorted(pairs), dtype=np.int64).T


def draws(seed, *shape):
    """Numbers that both libraries begin with."""
    return (np.random.RandomState(seed).standard_normal(shape) * 0.3).astype(np.float32)


def pygcn(torch, device="cpu"):
    """Two graph convolutions (Kipf & Welling), with the layer and the adjacency of pygcn."""
    nn, F = torch.nn, torch.nn.functional

    class GraphConvolution(nn.Module):
        def __init__(self, in_features, out_features, seed):
            super().__init__()
            self.weight = nn.Parameter(torch.from_numpy(draws(seed, in_features, out_features)))
            self.bias = nn.Parameter(torch.zeros(out_features))

        def forward(self, input, adj):
            support = torch.mm(input, self.weight)
            output = torch.spmm(adj, support)
            return output + self.bias

    class GCN(nn.Module):
        def __init__(self, nfeat, nhid, nclass):
            super().__init__()
            self.gc1 = GraphConvolution(nfeat, nhid, 1)
            self.gc2 = GraphConvolution(nhid, nclass, 2)

        def forward(self, x, adj):
            x = F.relu(self.gc1(x, adj))
            x = F.dropout(x, 0.0, training=self.training)
            x = self.gc2(x, adj)
            return F.log_softmax(x, dim=1)

    nodes = 40
    rows, columns = graph(nodes, 160)
    values = (1 / np.bincount(rows, minlength=nodes).clip(1)[rows]).astype(np.float32)
    adj = torch.sparse.FloatTensor(
        torch.from_numpy(np.vstack([rows, columns])), torch.from_numpy(values),
        torch.Size([nodes, nodes]),
    ).to(device)  # fmt: skip
    features = torch.from_numpy(draws(3, nodes, 12)).to(device)
    labels = torch.arange(nodes, device=device) % 4
    model = GCN(12, 8, 4).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(EPOCHS):
        optimizer.zero_grad()
        output = model(features, adj)
        loss = F.nll_loss(output[:20], labels[:20])
        loss.backward()
        optimizer.step()
        accuracy = (output.max(1)[1] == labels).double().mean()
        print(f"{epoch} {loss.item():.5f} {accuracy.item():.4f}")


def word2vec(torch, device="cpu"):
    """Skip-gram with negative samples, tables with sparse gradients and SparseAdam."""
    nn, F = torch.nn, torch.nn.functional

    class SkipGram(nn.Module):
        def __init__(self, words, size):
            super().__init__()
            self.u = nn.Embedding(words, size, sparse=True)
            self.v = nn.Embedding(words, size, sparse=True)
            self.u.weight.data.copy_(torch.from_numpy(draws(1, words, size)))
            self.v.weight.data.copy_(torch.from_numpy(draws(2, words, size)))

        def forward(self, u, v, negative):
            u, v = self.u(u), self.v(v)
            score = F.logsigmoid(torch.sum(u * v, dim=1).clamp(-10, 10))
            neg = torch.bmm(self.v(negative), u.unsqueeze(2)).squeeze(2)
            return -(score + F.logsigmoid(-neg).sum(1)).mean()

    model = SkipGram(30, 6).to(device)
    optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.05)
    random = np.random.RandomState(0)
    for step in range(EPOCHS):
        u, v = (torch.from_numpy(random.randint(0, 30, 16)).to(device) for _ in range(2))
        negative = torch.from_numpy(random.randint(0, 30, (16, 3))).to(device)
        optimizer.zero_grad()
        loss = model(u, v, negative)
        loss.backward()
        optimizer.step()
        print(f"{step} {loss.item():.5f} {model.u.weight.grad._nnz()}")
    print(f"{model.u.weight.sum().item():.4f}")


def light_gcn(torch, device="cpu"):
    """LightGCN: embeddings of users and items spread over their graph, and BPR's loss."""
    users, items, size = 20, 30, 8
    pairs = graph(20, 90, 5)
    pairs = np.stack([pairs[0], pairs[1] + users])
    rows = np.concatenate([pairs[0], pairs[1]])
    columns = np.concatenate([pairs[1], pairs[0]])
    index = torch.tensor(np.stack([rows, columns]))
    whole = users + items
    adj = torch.sparse_coo_tensor(index, torch.ones(index.shape[1]), (whole, whole)).coalesce()
    degree = torch.sparse.sum(adj, dim=1).to_dense().clamp(min=1)
    inverse = degree.pow(-0.5)
    i = adj.indices()
    values = adj.values() * inverse[i[0]] * inverse[i[1]]
    adj = torch.sparse_coo_tensor(i, values, adj.size()).coalesce().to(device)
    table = torch.nn.Parameter(torch.from_numpy(draws(7, whole, size)).to(device))
    optimizer = torch.optim.Adam([table], lr=0.01)
    random = np.random.RandomState(1)
    for epoch in range(EPOCHS):
        layers, x = [table], table
        for _ in range(3):
            x = torch.sparse.mm(adj, x)
            layers.append(x)
        final = torch.mean(torch.stack(layers, dim=1), dim=1)
        chosen = random.randint(0, pairs.shape[1], 32)
        user = final[torch.from_numpy(pairs[0][chosen]).to(device)]
        good = final[torch.from_numpy(pairs[1][chosen]).to(device)]
        bad = final[torch.from_numpy(users + random.randint(0, items, 32)).to(device)]
        loss = -torch.nn.functional.logsigmoid((user * good).sum(1) - (user * bad).sum(1)).mean()
        loss = loss + 1e-4 * table.norm(2).pow(2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{epoch} {loss.item():.5f}")


class Coo:
    """What pygcn takes of scipy.sparse.coo_matrix."""

    def __init__(self, rows, columns, data, shape):
        self.row, self.col, self.data, self.shape = rows, columns, data, shape

    def tocoo(self):
        return self

    def astype(self, dtype):
        return Coo(self.row, self.col, self.data.astype(dtype), self.shape)


def from_scipy(torch, device="cpu"):
    """pygcn's sparse_mx_to_torch_sparse_tensor(), and what programs then ask of the result."""

    def sparse_mx_to_torch_sparse_tensor(sparse_mx):
        sparse_mx = sparse_mx.tocoo().astype(np.float32)
        indices = torch.from_numpy(np.vstack((sparse_mx.row, sparse_mx.col)).astype(np.int64))
        values = torch.from_numpy(sparse_mx.data)
        shape = torch.Size(sparse_mx.shape)
        return torch.sparse.FloatTensor(indices, values, shape)

    rows, columns = graph(9, 20, 2)
    adj = sparse_mx_to_torch_sparse_tensor(Coo(rows, columns, draws(4, len(rows)), (9, 9)))
    adj = adj.to(device)
    print(adj.cpu())
    print(adj.coalesce().values().sum().item() == adj.coalesce().values().sum().item())
    print(adj.is_sparse, adj._nnz(), adj.shape, adj.type() if device == "cpu" else "")
    print((adj + adj.t()).coalesce().cpu().to_dense())
    back = adj.cpu().coalesce()
    matrix = Coo(*back.indices().numpy(), back.values().numpy(), tuple(back.shape))
    print(matrix.row[:4], matrix.data[:4].round(4), matrix.shape)


def page_rank(torch, device="cpu"):
    """PageRank by power iteration, in coordinates and by rows."""
    nodes = 25
    rows, columns = graph(nodes, 120, 9)
    out_degree = np.bincount(columns, minlength=nodes).clip(1)
    values = (1.0 / out_degree[columns]).astype(np.float32)
    links = torch.sparse_coo_tensor(
        np.stack([rows, columns]), values, (nodes, nodes), device=device
    )
    for matrix in (links, links.to_sparse_csr()):
        rank = torch.full((nodes, 1), 1 / nodes, device=device)
        for _ in range(30):
            before = rank
            rank = 0.85 * (matrix @ rank) + 0.15 / nodes
            rank = rank / rank.sum()
        change = (rank - before).abs().sum().item()
        best = rank.squeeze().topk(3)
        print([round(v, 5) for v in best.values.tolist()], best.indices.tolist(), change < 1e-4)


def graph_attention(torch, device="cpu"):
    """pyGAT's SpecialSpmm: a Function that makes a sparse matrix and saves it."""

    class SpecialSpmmFunction(torch.autograd.Function):
        @staticmethod
        def forward(ctx, indices, values, shape, b):
            a = torch.sparse_coo_tensor(indices, values, shape, device=values.device)
            ctx.save_for_backward(a, b)
            ctx.N = shape[0]
            return torch.matmul(a, b)

        @staticmethod
        def backward(ctx, grad_output):
            a, b = ctx.saved_tensors
            grad_values = grad_b = None
            if ctx.needs_input_grad[1]:
                grad_a_dense = grad_output.matmul(b.t())
                edge_idx = a._indices()[0, :] * ctx.N + a._indices()[1, :]
                grad_values = grad_a_dense.view(-1)[edge_idx]
            if ctx.needs_input_grad[3]:
                grad_b = a.t().matmul(grad_output)
            return None, grad_values, None, grad_b

    nodes = 15
    edge = torch.from_numpy(graph(nodes, 60, 3)).to(device)
    x = torch.from_numpy(draws(1, nodes, 5)).to(device)
    w = torch.nn.Parameter(torch.from_numpy(draws(2, 5, 4)).to(device))
    a = torch.nn.Parameter(torch.from_numpy(draws(3, 1, 8)).to(device))
    optimizer = torch.optim.SGD([w, a], lr=0.5)
    size = torch.Size([nodes, nodes])
    for epoch in range(EPOCHS):
        h = torch.mm(x, w)
        edge_h = torch.cat((h[edge[0]], h[edge[1]]), dim=1).t()
        edge_e = torch.exp(-torch.nn.functional.leaky_relu(a.mm(edge_h).squeeze(), 0.2))
        ones = torch.ones(nodes, 1, device=device)
        rowsum = SpecialSpmmFunction.apply(edge, edge_e, size, ones)
        h_prime = SpecialSpmmFunction.apply(edge, edge_e, size, h).div(rowsum + 1e-8)
        loss = torch.nn.functional.elu(h_prime).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{epoch} {loss.item():.6f} {math.sqrt(w.grad.pow(2).sum().item()):.6f}")


PROGRAMS = [pygcn, word2vec, light_gcn, from_scipy, page_rank, graph_attention]
