"""Bayesian optimization: fit a Gaussian process, acquisition functions, candidates, save, load."""

import io
import warnings

import botorch
import torch
from botorch.acquisition import ExpectedImprovement, LogExpectedImprovement, qExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import IIDNormalSampler, SobolQMCNormalSampler
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.mlls import ExactMarginalLogLikelihood

warnings.simplefilter("ignore")
torch.manual_seed(0)
x = torch.linspace(0, 1, 8, dtype=torch.float64)[:, None] ** 2
y = (x * 7).sin()
model = SingleTaskGP(x, y)
objective = fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
print("fitted", model.covar_module.lengthscale.item(), model.likelihood.noise.item())
points = torch.tensor([[[0.2]], [[0.5]], [[0.8]]], dtype=torch.float64)
posterior = model.posterior(points)
print("posterior", posterior.mean.tolist(), posterior.variance.tolist())
print("EI", ExpectedImprovement(model, best_f=y.max())(points).tolist())
print("LogEI", LogExpectedImprovement(model, best_f=y.max())(points).tolist())
sampler = IIDNormalSampler(torch.Size([16]), seed=0)
print("qEI", qExpectedImprovement(model, best_f=y.max(), sampler=sampler)(points).tolist())
print("Sobol", draw_sobol_samples(torch.tensor([[0.0, 0], [1, 1]]), n=4, q=1, seed=1).tolist())
sampler = SobolQMCNormalSampler(torch.Size([8]), seed=0)
print("qEI by Sobol", qExpectedImprovement(model, y.max(), sampler=sampler)(points).tolist())
candidate, value = optimize_acqf(
    LogExpectedImprovement(model, best_f=y.max()),
    bounds=torch.tensor([[0.0], [1.0]], dtype=torch.float64), q=1, num_restarts=2, raw_samples=8,
)  # fmt: skip
print("candidate", candidate.tolist(), value.item())
file = io.BytesIO()
torch.save(model.state_dict(), file)
again = SingleTaskGP(x, y)
again.load_state_dict(torch.load(io.BytesIO(file.getvalue())))
print("again", again.posterior(points).mean.tolist(), botorch.__name__)
