"""What DistributedDataParallel checks of its module: alike on all ranks, and the same later."""

from __future__ import annotations

import zlib

import rushlight
from rushlight.distributed import all_gather_into_tensor, all_gather_object, broadcast
from rushlight.distributed._work import of


def take_from(source, tensors, group):
    """One broadcast of tensors from a rank of the group for each dtype and device."""
    if group.size() == 1:
        return
    kinds = {}
    for each in tensors:
        kinds.setdefault((each.dtype, each.device), []).append(each.detach())
    for same in kinds.values():
        joined = rushlight.cat([each.reshape(-1) for each in same])
        broadcast(joined, group=group, group_src=source)
        if group.rank() != source:
            parts = joined.split([each.numel() for each in same])
            for each, part in zip(same, parts, strict=True):
                each.copy_(part.view(each.shape))


def check_alike(named, group):
    """All ranks have the same parameters, or the first that differs is named."""
    if group.size() == 1:
        return
    own = [f"{name}: {of(p)}" for name, p in named]
    device = named[0][1].device
    number = rushlight.tensor([zlib.crc32("\n".join(own).encode())], device=device)
    numbers = rushlight.empty(group.size(), dtype=rushlight.int64, device=device)
    all_gather_into_tensor(numbers, number, group)
    if len(set(numbers.tolist())) == 1:
        return
    every = [None] * group.size()
    all_gather_object(every, own, group)
    for rank, theirs in enumerate(every):
        if theirs == every[0]:
            continue
        pairs = [(a, b) for a, b in zip(every[0], theirs, strict=False) if a != b]
        if pairs:
            words = f"rank 0 has {pairs[0][0]}, rank {rank} has {pairs[0][1]}"
        else:
            words = f"rank 0 has {len(every[0])} parameters, rank {rank} has {len(theirs)}"
        raise RuntimeError(
            "DistributedDataParallel expects the same model in all processes, and their parameters "
            f"differ\n{words}"
        )


class Watch:
    """A module as it was when it was wrapped; check() says which parameter has changed since."""

    def __init__(self, module, ignored):
        self.module, self.ignored = module, ignored
        self.modules = [(m._parameters, m._modules) for m in module.modules()]
        self.sizes = [(len(ps), len(ms)) for ps, ms in self.modules]
        self.parameters, self.children = [], []
        for path, m in module.named_modules():
            for name, p in m._parameters.items():
                full = f"{path}.{name}" if path else name
                if p is not None and full not in ignored:
                    self.parameters.append((m._parameters, name, p, p.requires_grad, full))
            for name, child in m._modules.items():
                if child is not None:
                    self.children.append((m._modules, name, child))

    def check(self, may_freeze):
        """Whether some parameter requires a gradient; none does while a GAN's other half trains.

        Some may be frozen where a forward need not use all.
        """
        same = all(
            len(ps) == n and len(ms) == k
            for (ps, ms), (n, k) in zip(self.modules, self.sizes, strict=True)
        )
        same = same and all(ms.get(name) is child for ms, name, child in self.children)
        same = same and all(
            ps.get(name) is p and p.requires_grad == needed
            for ps, name, p, needed, _ in self.parameters
        )
        if same:
            return True
        trains = any(p.requires_grad for _, _, p, needed, _ in self.parameters if needed)
        self._complain(may_freeze or not trains)
        return trains

    def _complain(self, may_freeze):
        known = {full: (p, needed) for _, _, p, needed, full in self.parameters}
        words = []
        for name, p in self.module.named_parameters(remove_duplicate=False):
            before, needed = known.pop(name, (None, None))
            if name in self.ignored or (before is p and p.requires_grad == needed):
                continue
            if before is p and needed and may_freeze:
                continue
            if before is None:
                words.append(f"{name} was added")
            elif before is not p:
                words.append(f"{name} is another parameter")
            else:
                words.append(f"{name} was {'frozen' if needed else 'made to require a gradient'}")
        words += [f"{name} was removed" for name in known]
        if not words:  # frozen, or a module without parameters was added or removed
            return
        raise RuntimeError(
            "the parameters of the module have changed since DistributedDataParallel(model): "
            f"{', '.join(words)}\nthe ranks would not average the same: change the model before it "
            "is wrapped, or wrap it again"
        )
