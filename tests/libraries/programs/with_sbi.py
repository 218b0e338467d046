"""A posterior from simulations, by a normalizing flow."""

import torch
from sbi.inference import NPE
from sbi.utils import BoxUniform

torch.manual_seed(0)
prior = BoxUniform(-2 * torch.ones(2), 2 * torch.ones(2))
parameters = prior.sample((200,))
observed = parameters + 0.1 * torch.randn_like(parameters)
inference = NPE(prior, show_progress_bars=False).append_simulations(parameters, observed)
estimator = inference.train(max_num_epochs=2, training_batch_size=50)
posterior = inference.build_posterior(estimator)
samples = posterior.sample((3,), x=torch.zeros(2), show_progress_bars=False)
print("samples", tuple(samples.shape), "losses", inference.summary["validation_loss"])
print("density", posterior.log_prob(torch.zeros(1, 2), x=torch.zeros(2)).tolist())
