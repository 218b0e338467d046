"""A few calls of every family of kernels with odd sizes, for compute-sanitizer: quick, and without
torch or pytest in the process."""

import rushlight as torch
import rushlight.nn.functional as F


def main():
    torch.manual_seed(0)
    for shape in ((1,), (7, 33), (3, 5, 31), (2, 257)):
        x = torch.randn(*shape, device="cuda", requires_grad=True)
        y = (x.exp() + x * 2).tanh().sum() + x.softmax(-1).prod() + x.cumsum(-1).mean()
        y.backward()
        for reduced in (x.max(-1).values, x.var(-1), x.logsumexp(-1), x.sort(-1).values):
            reduced.sum().item()
        x.detach().t().contiguous() if x.dim() == 2 else x.detach().flip(0)
        x.detach().to(torch.bfloat16).to(torch.float64).to(torch.int32)
    image = torch.randn(2, 3, 9, 11, device="cuda", requires_grad=True)
    weight = torch.randn(4, 3, 3, 3, device="cuda", requires_grad=True)
    z = F.conv2d(image, weight, stride=2, padding=1)
    z = F.max_pool2d(F.relu(F.group_norm(z, 2)), 2) + F.avg_pool2d(z, 2)
    scores = z.flatten(1) @ torch.randn(z[0].numel(), 5, device="cuda")
    loss = F.cross_entropy(scores, torch.tensor([1, 4], device="cuda"), label_smoothing=0.1)
    loss.backward()
    table = torch.randn(10, 6, device="cuda", requires_grad=True)
    at = torch.tensor([1, 9, 1], device="cuda")
    F.dropout(
        F.embedding(at, table) + table[at] + table.gather(0, at.reshape(3, 1))
    ).sum().backward()
    torch.zeros(4, device="cuda").scatter_add_(0, at % 4, torch.ones(3, device="cuda"))
    torch.unique(at), at.nonzero(), torch.bincount(at), torch.randperm(40, device="cuda")
    for optimizer in (torch.optim.SGD([table], 0.1, momentum=0.9), torch.optim.AdamW([weight])):
        optimizer.step()
    for size in (5, 37):  # of a batch, which needs no library
        a = torch.randn(2, size, size, device="cuda")
        torch.linalg.solve(a, a[..., :3]), torch.linalg.qr(a, "complete"), torch.linalg.lu(a)
        torch.linalg.cholesky(a @ a.mT + torch.eye(size, device="cuda"), upper=True)
    F.batch_norm(image, None, None, training=True).sum().backward()
    torch.cuda.synchronize()
    print("done")


if __name__ == "__main__":
    main()
