"""Values carried from torch to rushlight and back: tensors keep strides, offset and shared storage.

A dtype, layout or object that rushlight does not have raises Untransferable: no verdict, a skip.
"""

import enum

import torch

import rushlight

DTYPES = {
    getattr(torch, name): getattr(rushlight, name)
    for name in (
        "float16 bfloat16 float32 float64 complex64 complex128 int8 int16 int32 int64 "
        "uint8 uint16 uint32 uint64 bool"
    ).split()
}
BACK = {str(ours): theirs for theirs, ours in DTYPES.items()}
# Where our side's operands are put: `python -m tests.oracle --device cuda`.
DEVICE = [rushlight.device("cpu")]
FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")


class Untransferable(Exception):
    """Something of torch's that has no counterpart here."""


def is_on_cpu():
    return DEVICE[0].type == "cpu"


class Carrier:
    """Carries the values of one call: tensors that share storage in torch share it here."""

    def __init__(self):
        self.buffers, self.kept = {}, []
        self.seen = {}  # id of torch's -> (torch's, ours): one tensor given twice stays one
        self.leaves = []  # pairs (torch's, ours) of tensors that want a gradient

    def tensor(self, t):
        if id(t) not in self.seen:
            self.seen[id(t)] = t, self.carried(t)
        return self.seen[id(t)][1]

    def carried(self, t):
        if t.dtype not in DTYPES or t.layout != torch.strided or t.is_quantized:
            raise Untransferable(f"{t.dtype} {t.layout}")
        if t.dim() > 8:
            raise Untransferable("more than 8 dimensions")
        if t.device.type != "cpu":
            raise Untransferable(str(t.device))
        if t.numel() and not t.untyped_storage().nbytes():  # its memory was taken away
            raise Untransferable("a tensor without its memory")
        if t.is_conj() or t.is_neg():  # no views here: what they show
            shown = t.detach().resolve_conj().resolve_neg()
            self.kept.append(shown)  # or the next one may have its address
            ours = self.base(shown).as_strided(shown.size(), shown.stride(), 0)
        else:
            ours = self.base(t).as_strided(t.size(), t.stride(), t.storage_offset())
        if t.requires_grad:
            ours.requires_grad_()
            self.leaves.append((t, ours))
        return ours

    def base(self, t):
        storage = t.untyped_storage()
        key = (storage.data_ptr(), t.dtype)
        if key not in self.buffers or not storage.nbytes():
            whole = torch.empty(0, dtype=torch.uint8).set_(storage)
            content = bytearray(whole.numpy().tobytes())
            count = len(content) // t.element_size()
            self.buffers[key] = (
                rushlight.frombuffer(content, dtype=DTYPES[t.dtype], count=count)
                if count
                else rushlight.empty(0, dtype=DTYPES[t.dtype])
            ).to(DEVICE[0])
        return self.buffers[key]

    def value(self, x):
        """Any argument of a sample."""
        if isinstance(x, torch.Tensor):
            return self.tensor(x)
        if isinstance(x, torch.dtype):
            if x not in DTYPES:
                raise Untransferable(str(x))
            return DTYPES[x]
        if isinstance(x, torch.device) or x == "cpu":
            return DEVICE[0]
        if isinstance(x, torch.memory_format):
            return getattr(rushlight, str(x).removeprefix("torch."))
        if isinstance(x, torch.layout):
            if x != torch.strided:
                raise Untransferable(str(x))
            return rushlight.strided
        if isinstance(x, torch.Size):
            return rushlight.Size(x)
        if isinstance(x, dict):
            return {key: self.value(item) for key, item in x.items()}
        if isinstance(x, (list, tuple)):
            return type(x)(self.value(item) for item in x)
        if isinstance(x, torch.Generator):
            raise Untransferable("a generator")
        if isinstance(x, enum.Enum) or type(x).__module__.startswith("torch"):
            raise Untransferable(type(x).__name__)
        return x


def to_torch(t):
    """A tensor of ours as torch's, history left behind."""
    t = t.detach().cpu()
    if t.dtype == rushlight.bfloat16:
        bits = t.contiguous().view(rushlight.int16).numpy().copy()
        return torch.from_numpy(bits).view(torch.bfloat16)
    return torch.from_numpy(t.contiguous().numpy().copy())


def leaves(outcome):
    """The tensors and numbers of a result, in order, with what holds them spelled out."""
    if isinstance(outcome, (list, tuple)) and not isinstance(outcome, (torch.Size, rushlight.Size)):
        return [leaf for item in outcome for leaf in leaves(item)]
    if isinstance(outcome, dict):
        return [leaf for key in sorted(outcome) for leaf in leaves(outcome[key])]
    return [outcome]
