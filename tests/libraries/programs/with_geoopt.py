"""Optimization on manifolds."""

import geoopt
import torch

torch.manual_seed(0)
ball = geoopt.PoincareBall(c=1.0)
x, y = ball.projx(torch.randn(5, 3)), ball.projx(torch.randn(5, 3))
print("distance", ball.dist(x, y).tolist())
print("maps", ball.expmap(x, torch.ones(5, 3) * 0.1).tolist(), ball.logmap(x, y).tolist())
frame = geoopt.ManifoldParameter(torch.linalg.qr(torch.randn(5, 3))[0], manifold=geoopt.Stiefel())
goal = torch.randn(5, 3)
optimizer = geoopt.optim.RiemannianAdam([frame], lr=1e-2)
for _step in range(20):
    optimizer.zero_grad()
    loss = (frame - goal).square().sum()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "orthonormal", torch.allclose(frame.T @ frame, torch.eye(3), atol=1e-4))
point = geoopt.ManifoldParameter(torch.tensor([0.1, 0.2, 0.3]), manifold=ball)
optimizer = geoopt.optim.RiemannianSGD([point], lr=0.1, momentum=0.9)
for _step in range(10):
    optimizer.zero_grad()
    loss = ball.dist(point, torch.tensor([0.5, -0.2, 0.1]))
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "point", point.tolist())
