"""The pruning methods, which prune.py names.

Note: a pruned parameter `name` becomes the parameter `name_orig` and the buffer `name_mask`; a
pre-hook of the module sets the attribute `name` to their product before each call.
"""

import numbers
from abc import ABC, abstractmethod

from rushlight import _C


class BasePruningMethod(ABC):
    """Base class of the choice of entries to prune, which a subclass makes in `compute_mask()`.

    A subclass sets PRUNING_TYPE: 'unstructured' (a further pruning sees the entries that are left),
    'structured' (the channels that are left) or 'global' (the whole tensor).

    Shape: masks have the shape of the parameter.

    >>> from rushlight.nn.utils import prune
    >>> class EverySecond(prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = EverySecond.apply(torch.nn.Linear(2, 2), "weight") and None
    """

    _tensor_name: str
    PRUNING_TYPE: str

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask for `t`: of its shape, and 0 wherever `default_mask` is.

        Args:
            t: the values that the choice goes by.
            default_mask: what is pruned already.
        """

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module):
        """The product of the module's parameter and its mask."""
        name = self._name()
        mask, original = getattr(module, name + "_mask"), getattr(module, name + "_orig")
        return mask.to(dtype=original.dtype) * original

    def _name(self):
        if not hasattr(self, "_tensor_name"):
            raise AssertionError(f"Module has to be pruned by {type(self).__name__}.apply() first")
        return self._tensor_name

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes the parameter `name` of `module`, on top of what is pruned already.

        Args:
            args, kwargs: for the constructor of the method.
            importance_scores: what the choice goes by, of the parameter's shape; else its values.

        Returns the method, or the container of all that prune this parameter.
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        hooks = [
            (key, hook)
            for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(hooks) > 1:
            raise AssertionError(
                f"Avoid having multiple pruning hooks on the same\ntensor {name} in module "
                f"{module}. Use a PruningContainer."
            )
        earlier = hooks[0][1] if hooks else None
        values = getattr(module, name)
        mask = getattr(module, name + "_mask") if hooks else None
        importance = values if importance_scores is None else importance_scores
        if not isinstance(values, _C.Tensor):
            raise TypeError(
                f"prune: {name!r} of {type(module).__name__} is {type(values).__name__}, "
                "which cannot be pruned; name one of its parameters"
            )
        if importance.shape != values.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {importance.shape} vs {values.shape}"
            )
        chosen = method
        if earlier is not None:
            chosen = PruningContainer()
            chosen._tensor_name = name
            for one in earlier if isinstance(earlier, PruningContainer) else (earlier,):
                chosen.add_pruning_method(one)
            chosen.add_pruning_method(method)
        default = _C.ones_like(values) if mask is None else mask.detach().clone()
        made = chosen.compute_mask(importance, default_mask=default)
        if made.shape != values.shape:
            raise RuntimeError(
                f"{type(chosen).__name__}.compute_mask() returned a mask of shape "
                f"{tuple(made.shape)} for a tensor of shape {tuple(values.shape)}"
            )
        if earlier is None:
            original = module._parameters.get(name)
            if original is None:
                raise TypeError(
                    f"prune: {name!r} is no parameter of {type(module).__name__}; only parameters "
                    "can be pruned"
                )
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            module.register_buffer(name + "_mask", made)
        else:
            setattr(module, name + "_mask", made)
            del module._forward_pre_hooks[hooks[0][0]]
        setattr(module, name, chosen.apply_mask(module))
        module.register_forward_pre_hook(chosen)
        return chosen

    def prune(self, t, default_mask=None, importance_scores=None):
        """A pruned copy of a tensor; no module takes part.

        Args:
            t: the tensor.
            default_mask: what is pruned already; nothing if None.
            importance_scores: what the choice goes by, of t's shape; else its values.

        >>> from rushlight.nn.utils import prune
        >>> prune.L1Unstructured(0.5).prune(torch.arange(4.0))
        tensor([0., 0., 2., 3.])
        """
        importance = t if importance_scores is None else importance_scores
        if importance.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        if default_mask is None:
            default_mask = _C.ones_like(t)
        return t * self.compute_mask(importance, default_mask=default_mask)

    def remove(self, module):
        """Makes the pruning of a parameter of `module` final: it has its name again, zeros where
        the mask had.
        """
        name = self._name()
        values = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = values.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several prunings of one parameter, each of what the earlier ones left.

    Args:
        args: the methods, in their order; all of the same parameter.

    Shape: masks have the shape of the parameter.

    >>> from rushlight.nn.utils import prune
    >>> layer = prune.l1_unstructured(torch.nn.Linear(2, 2), "weight", amount=1)
    >>> layer = prune.random_unstructured(layer, "weight", amount=1)
    >>> (hook,) = layer._forward_pre_hooks.values()
    >>> type(hook).__name__, len(hook)
    ('PruningContainer', 2)
    """

    PRUNING_TYPE = "container"

    def __init__(self, *args):
        self._pruning_methods = ()
        for i, method in enumerate(args):
            if i == 0:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Adds a method, which sees what those before it left.

        Raises:
            TypeError: if it is none.
            ValueError: if it prunes another parameter.
        """
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, index):
        return self._pruning_methods[index]

    def compute_mask(self, t, default_mask):
        """The mask of the last method, applied to what the others left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            index = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = _checked_dim(t, method.dim) % t.dim()
            others = tuple(d for d in range(t.dim()) if d != dim)
            index = (slice(None),) * dim + (mask.sum(dim=others) != 0,)
        elif method.PRUNING_TYPE == "global":
            index = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        made = mask.clone()
        made[index] = method.compute_mask(t[index], default_mask=mask[index]).to(dtype=made.dtype)
        return made


class Identity(BasePruningMethod):
    """Prunes nothing, and gives a parameter a mask of ones.

    Shape: masks have the shape of the parameter.

    >>> from rushlight.nn.utils import prune
    >>> prune.Identity().prune(torch.ones(2))
    tensor([1., 1.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        """The mask that was there."""
        return default_mask

    @classmethod
    def apply(cls, module, name):
        """As the function `identity()`."""
        return super().apply(module, name)


class _ByAmount(BasePruningMethod):
    """Prunes a number of entries, or a fraction of them."""

    def __init__(self, amount):
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        whole = isinstance(amount, numbers.Integral)
        if (whole and amount < 0) or (not whole and (amount > 1 or amount < 0)):
            raise ValueError(
                f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
                "integer"
            )
        self.amount = amount

    def _count(self, size):
        """How many of `size` entries."""
        if not isinstance(self.amount, numbers.Integral):
            return round(self.amount * size)
        if self.amount > size:
            raise ValueError(
                f"amount={self.amount} should be smaller than the number of parameters to "
                f"prune={size}"
            )
        return self.amount

    def _without_lowest(self, importance, default_mask, largest):
        count = self._count(importance.nelement())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[_C.topk(importance.view(-1), count, largest=largest).indices] = 0
        return mask


class RandomUnstructured(_ByAmount):
    """Prunes entries drawn at random.

    Args:
        amount: a fraction from 0 to 1, or a number of entries.

    Shape: masks have the shape of the parameter.

    >>> from rushlight.nn.utils import prune
    >>> prune.RandomUnstructured(2).prune(torch.ones(5)).sum()
    tensor(3.)
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        """The mask without `amount` of the entries."""
        self._count(t.nelement())
        return self._without_lowest(_C.rand_like(t), default_mask, largest=True)

    @classmethod
    def apply(cls, module, name, amount):
        """As the function `random_unstructured()`."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_ByAmount):
    """Prunes the entries of the smallest magnitude.

    Args:
        amount: a fraction from 0 to 1, or a number of entries.

    Shape: masks have the shape of the parameter.

    >>> from rushlight.nn.utils import prune
    >>> prune.L1Unstructured(0.5).prune(torch.arange(4.0))
    tensor([0., 0., 2., 3.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        """The mask without `amount` of the entries."""
        return self._without_lowest(t.detach().abs().contiguous(), default_mask, largest=False)

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        """As the function `l1_unstructured()`."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _checked_dim(t, dim):
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise TypeError(f"prune: dim must be int, not {type(dim).__name__}")
    if not -t.dim() <= dim < t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
    return dim


class _Channels(_ByAmount):
    """Prunes whole slices along one dimension."""

    PRUNING_TYPE = "structured"

    def _size(self, t):
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {t.shape} with {t.dim()} dims"
            )
        return t.shape[_checked_dim(t, self.dim)]

    def _only(self, kept, t, default_mask):
        """The mask with nothing but the channels where `kept` is 1."""
        dim = self.dim % t.dim()
        shape = [1] * dim + [-1] + [1] * (t.dim() - dim - 1)
        return default_mask * kept.to(dtype=default_mask.dtype).view(shape)


class RandomStructured(_Channels):
    """Prunes channels drawn at random.

    Args:
        amount: a fraction from 0 to 1, or a number of channels.
        dim: the dimension of the channels.

    Shape: masks have the shape of the parameter.

    >>> from rushlight.nn.utils import prune
    >>> prune.RandomStructured(1, dim=0).prune(torch.ones(3, 2)).sum()
    tensor(4.)
    """

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t, default_mask):
        """The mask without `amount` of the channels."""
        size = self._size(t)
        count = self._count(size)
        if count == 0:
            return default_mask
        drawn = _C.rand(size)
        kept = drawn > _C.kthvalue(drawn, int(count)).values
        return self._only(kept.to(t.device), t, default_mask)

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        """As the function `random_structured()`."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Channels):
    """Prunes the channels of the smallest Ln norm.

    Args:
        amount: a fraction from 0 to 1, or a number of channels.
        n: the order of the norm: a float, inf, -inf, 'fro' or 'nuc'.
        dim: the dimension of the channels.

    Shape: masks have the shape of the parameter.

    >>> from rushlight.nn.utils import prune
    >>> prune.LnStructured(1, n=2, dim=0).prune(torch.tensor([[1.0, 1.0], [2.0, 2.0]]))
    tensor([[0., 0.],
            [2., 2.]])
    """

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def compute_mask(self, t, default_mask):
        """The mask without `amount` of the channels."""
        size = self._size(t)
        count = self._count(size)
        if count == 0:
            return default_mask
        dims = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norms = _C.Tensor.norm(t.detach(), p=self.n, dim=dims)
        kept = _C.zeros_like(norms)
        kept[_C.topk(norms, size - count, largest=True).indices] = 1
        return self._only(kept, t, default_mask)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        """As the function `ln_structured()`."""
        return super().apply(
            module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
        )


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask.

    Args:
        mask: of the parameter's shape, 0 where it is pruned.

    Shape: masks have the shape of the parameter.

    >>> from rushlight.nn.utils import prune
    >>> prune.CustomFromMask(torch.tensor([1, 0])).prune(torch.ones(2))
    tensor([1., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        """The product of the two masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape "
                f"{self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        """As the function `custom_from_mask()`."""
        return super().apply(module, name, mask=mask)
