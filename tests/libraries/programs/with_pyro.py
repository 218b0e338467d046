"""Variational inference of a coin and of a line; a few samples of NUTS."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

tosses = torch.tensor([1.0, 1, 1, 0, 1, 1, 0, 1])
pyro.set_rng_seed(0)


def coin():
    p = pyro.sample("p", dist.Beta(2.0, 2.0))
    with pyro.plate("tosses", len(tosses)):
        pyro.sample("toss", dist.Bernoulli(p), obs=tosses)


def guide():
    a = pyro.param("a", torch.tensor(3.0), constraint=dist.constraints.positive)
    b = pyro.param("b", torch.tensor(3.0), constraint=dist.constraints.positive)
    pyro.sample("p", dist.Beta(a, b))


svi = SVI(coin, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
print("losses", [svi.step() for _ in range(3)])
print("a, b", pyro.param("a").item(), pyro.param("b").item())
pyro.clear_param_store()
pyro.set_rng_seed(0)
x = torch.linspace(0, 1, 10)


def line():
    slope = pyro.sample("slope", dist.Normal(0.0, 1.0))
    with pyro.plate("points", 10):
        pyro.sample("y", dist.Normal(slope * x, 0.1), obs=2 * x)


svi = SVI(line, AutoNormal(line), pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
print("line", [svi.step() for _ in range(3)])
pyro.set_rng_seed(0)
sampler = MCMC(NUTS(line), num_samples=20, warmup_steps=10, disable_progbar=True)
sampler.run()
print("slope", abs(sampler.get_samples()["slope"].mean().item() - 1.9) < 0.3)
