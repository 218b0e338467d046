"""Averages of a model's weights over the steps of a training, and the schedule for them."""

import copy
import itertools
import math

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.nn.modules.batchnorm import _BatchNorm
from rushlight.nn.modules.module import Module
from rushlight.optim._schedules.base import LRScheduler
from rushlight.optim._schedules.cyclic import _for_each

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def _check_decay(decay):
    if not 0.0 <= decay <= 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def get_ema_multi_avg_fn(decay=0.999):
    """For AveragedModel's multi_avg_fn: the exponential moving average, in place.

    Args:
        decay: how much of the old average stays.

    Raises:
        ValueError: for a decay outside [0, 1].

    >>> average = torch.optim.swa_utils.get_ema_multi_avg_fn(0.5)
    >>> mean = [torch.zeros(1)]
    >>> average(mean, [torch.tensor([4.0])], 1)
    >>> mean
    [tensor([2.])]
    """
    _check_decay(decay)

    @no_grad()
    def update(averages, values, count):
        for average, value in zip(averages, values, strict=True):
            if average.is_floating_point():
                average.lerp_(value, 1 - decay)
            else:
                average.copy_(average * decay + value * (1 - decay))

    return update


def get_swa_multi_avg_fn():
    """For AveragedModel's multi_avg_fn: the mean of all steps, in place.

    >>> average = torch.optim.swa_utils.get_swa_multi_avg_fn()
    >>> mean = [torch.zeros(1)]
    >>> average(mean, [torch.tensor([4.0])], torch.tensor(3))
    >>> mean
    [tensor([1.])]
    """

    @no_grad()
    def update(averages, values, count):
        for average, value in zip(averages, values, strict=True):
            share = 1.0 / (float(count) + 1)
            if average.is_floating_point():
                average.lerp_(value, share)
            else:
                average.copy_(average + (value - average) * share)

    return update


def get_ema_avg_fn(decay=0.999):
    """For AveragedModel's avg_fn: the exponential moving average.

    Args:
        decay: how much of the old average stays.

    Raises:
        ValueError: for a decay outside [0, 1].

    >>> average = torch.optim.swa_utils.get_ema_avg_fn(0.5)
    >>> average(torch.tensor(0.0), torch.tensor(4.0), 1)
    tensor(2.)
    """
    _check_decay(decay)

    @no_grad()
    def update(average, value, count):
        return decay * average + (1 - decay) * value

    return update


def get_swa_avg_fn():
    """For AveragedModel's avg_fn: the mean of all steps.

    >>> torch.optim.swa_utils.get_swa_avg_fn()(torch.tensor(0.0), torch.tensor(4.0), 3)
    tensor(1.)
    """

    @no_grad()
    def update(average, value, count):
        return average + (value - average) / (count + 1)

    return update


class AveragedModel(Module):
    """A copy of a model whose weights are an average of those that the model had (Izmailov et al.,
    2018).

    Args:
        model: the model.
        device: where the copy is kept.
        avg_fn: (average, value, count) to the new average, for one tensor; the mean by default.
        multi_avg_fn: the same for lists of tensors, in place, instead.
        use_buffers: buffers are averaged too, instead of copied.

    Shape: averages have the shapes of the parameters.

    >>> model = torch.nn.Linear(1, 1)
    >>> average = torch.optim.swa_utils.AveragedModel(model)
    >>> average.update_parameters(model)
    >>> average.n_averaged
    tensor(1)
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _C.tensor(0, dtype=_C.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _averaged(self, model):
        if self.use_buffers:
            return itertools.chain(model.parameters(), model.buffers())
        return model.parameters()

    def update_parameters(self, model):
        """Updates the average with the weights of `model`; the first time it becomes them."""
        averages = [x.detach() for x in self._averaged(self.module)]
        values = [
            x.detach().to(average.device)
            for average, x in zip(averages, self._averaged(model), strict=False)
        ]
        averages = averages[: len(values)]
        if self.n_averaged == 0:
            for average, value in zip(averages, values, strict=True):
                average.copy_(value)
        elif self.avg_fn is not None:
            for average, value in zip(averages, values, strict=True):
                count = self.n_averaged.to(average.device)
                average.copy_(self.avg_fn(average, value, count))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            kinds = {}
            for average, value in zip(averages, values, strict=True):
                kind = kinds.setdefault((average.device, average.dtype), ([], []))
                kind[0].append(average)
                kind[1].append(value)
            for (device, _), (mine, theirs) in kinds.items():
                update(mine, theirs, self.n_averaged.to(device))
        if not self.use_buffers:
            for mine, theirs in zip(self.module.buffers(), model.buffers(), strict=True):
                mine.detach().copy_(theirs.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader, model, device=None):
    """Gives a model's batch norms the statistics of all batches of `loader`.

    Args:
        loader: tensors, or lists and tuples whose first item is one.
        model: it is called with each of them, in training mode.
        device: where the batches are moved to.

    Shape: batches as the model takes them.

    >>> model = torch.nn.BatchNorm1d(1)
    >>> torch.optim.swa_utils.update_bn([torch.tensor([[1.0], [3.0]])], model)
    >>> model.running_mean
    tensor([2.])
    """
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
    for batch in loader:
        first = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(first if device is None else first.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


def _linear(t):
    return t


def _cosine(t):
    return (1 - math.cos(math.pi * t)) / 2


class SWALR(LRScheduler):
    """Leads the rate to a constant, for the part of a training whose weights are averaged.

    Args:
        optimizer: whose param_groups' "lr" is set.
        swa_lr: the constant, or one for each group.
        anneal_epochs: over how many steps.
        anneal_strategy: "cos" or "linear".
        last_epoch: as in LRScheduler.

    Raises:
        ValueError: for another strategy, or a negative number of epochs.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> torch.optim.swa_utils.SWALR(opt, 0.1, anneal_epochs=2).get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1
    ):  # fmt: skip
        self._attach(optimizer)
        rates = _for_each(optimizer, swa_lr, "swa_lr")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        self.anneal_epochs = anneal_epochs
        self._set_anneal_func(anneal_strategy)
        super().__init__(optimizer, last_epoch)

    def _set_anneal_func(self, strategy):
        self._anneal_strategy = strategy
        self.anneal_func = _cosine if strategy == "cos" else _linear

    def get_lr(self):
        """swa_lr * a + (the rate before) * (1 - a), a from 0 to 1 over the epochs."""
        current = self._rates()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (
            self.anneal_func(max(0, min(1, k / max(1, self.anneal_epochs))))
            for k in (step - 1, step)
        )
        rates = []
        for rate, group in zip(current, self.optimizer.param_groups, strict=True):
            goal = group["swa_lr"]
            first = goal if before == 1 else (rate - before * goal) / (1 - before)
            rates.append(goal * now + first * (1 - now))
        return rates

    def state_dict(self):
        """Everything but the optimizer and the function."""
        left_out = ("optimizer", "anneal_func")
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    def load_state_dict(self, state_dict):
        """Restores a `state_dict`."""
        self.__dict__.update(state_dict)
        self._set_anneal_func(self._anneal_strategy)
