"""Regression by an exact Gaussian process: a few steps, then predictions."""

import gpytorch
import torch


class Model(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


x = torch.linspace(0, 1, 20)
y = (x * 6).sin()
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Model(x, y, likelihood)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _step in range(5):
    optimizer.zero_grad()
    loss = -objective(model(x), y)
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
model.eval()
likelihood.eval()
with torch.no_grad():
    found = likelihood(model(torch.tensor([0.05, 0.5, 1.2])))
    print("mean", found.mean.tolist(), "variance", found.variance.tolist())
    low, high = found.confidence_region()
    print("region", low.tolist(), high.tolist())
for kernel in (
    gpytorch.kernels.MaternKernel(),
    gpytorch.kernels.PeriodicKernel(),
    gpytorch.kernels.RQKernel(),
):
    print(type(kernel).__name__, kernel(x[:3], x[:3]).to_dense().tolist())
