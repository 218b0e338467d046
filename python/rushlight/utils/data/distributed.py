"""DistributedSampler: one process's share of a data set. Pure arithmetic."""

import math
import warnings

import rushlight

from .sampler import Sampler


class DistributedSampler(Sampler):
    """The share of process `rank` out of `num_replicas`, the same length in each.

    Args:
        dataset: a data set with a length.
        num_replicas: number of processes; that of the default group where it is None.
        rank: this process's index, from 0; that in the default group where it is None.
        shuffle: permute with the seed `seed + epoch`, the same permutation in each process.
        seed: see `shuffle`.
        drop_last: leave out what does not divide, instead of repeating samples.

    Raises:
        ValueError: one of them is not given, and there is no default group.
        ValueError: `rank` is not in [0, num_replicas - 1].

    Example:
        >>> data = torch.utils.data.TensorDataset(torch.arange(5))
        >>> sampler = torch.utils.data.DistributedSampler(data, 2, rank=1, shuffle=False)
        >>> list(sampler)
        [1, 3, 0]
    """

    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False
    ):
        if num_replicas is None or rank is None:
            from rushlight import distributed

            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self._passes = 0  # since the last set_epoch
        self.drop_last = drop_last
        if drop_last:
            self.num_samples = len(dataset) // num_replicas
        else:
            self.num_samples = math.ceil(len(dataset) / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self):
        size = len(self.dataset)
        self._passes += 1
        if self.shuffle:
            if self._passes == 2:
                warnings.warn(
                    "DistributedSampler gives the order of the pass before again: call "
                    "sampler.set_epoch(epoch) before each epoch",
                    stacklevel=2,
                )
            generator = rushlight.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = rushlight.randperm(size, generator=generator).tolist()
        else:
            indices = list(range(size))
        if size and self.total_size > size:
            indices = (indices * math.ceil(self.total_size / size))[: self.total_size]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Make the next iteration use another permutation; call it at the start of an epoch."""
        self.epoch, self._passes = epoch, 0
