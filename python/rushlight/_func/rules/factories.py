"""New tensors and random numbers under vmap()."""

import functools

from rushlight import _C
from rushlight._func.dispatch import RULES, looped, rule
from rushlight._func.rules.views import sizes_of
from rushlight.random import _gpu_generators

_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)
_SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an "
    "issue with functorch"
)
_UNBATCHED = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear "
    "like same randomness. If this is necessary for your usage, please file an issue with "
    "functorch."
)


@rule("new_zeros new_ones new_empty")
def new_of_size(level, func, input, *size, **options):
    """A tensor for each element."""
    size = options.pop("size", sizes_of(size))
    return level.batched(func(input._value, (level.size, *size), **options))


@rule("new_full")
def new_full(level, func, input, size, fill_value, **options):
    """A tensor for each element."""
    if level.holds(fill_value):
        return NotImplemented
    return level.batched(func(input._value, (level.size, *size), fill_value, **options))


@rule("new_tensor")
def new_tensor(level, func, input, data, **options):
    """A tensor that all elements share."""
    return func(input._value, data, **options)


def check_draws(level):
    """Raises a RuntimeError where random numbers are refused."""
    if level.randomness == "error":
        raise RuntimeError(_RANDOM)


def states():
    """The default generators with their states."""
    generators = [_C.default_generator, *_gpu_generators(None)]
    return [(generator, generator.get_state()) for generator in generators]


def _same(level, func, args, kwargs, name):
    # Each element with the numbers that the first one draws.
    before = states()

    @functools.wraps(func)
    def from_there(*row, **options):
        for generator, state in before:
            generator.set_state(state)
        return func(*row, **options)

    return looped(level, from_there, args, kwargs, name)


def random(names):
    """Decorates what computes a random operation where elements draw different numbers."""

    def decorate(different):
        @functools.wraps(different)
        def known(level, func, *args, **kwargs):
            name = func.__name__
            held = level.found(args) or level.found(kwargs.values())
            if name in _IF_TRAINING and not _trains(name, args, kwargs):
                return level.wrap(func(*map(level.value, args), **kwargs)) if held else func(
                    *args, **kwargs)  # fmt: skip
            check_draws(level)
            if level.randomness == "different":
                return different(level, func, *args, **kwargs)
            if not held:
                return func(*args, **kwargs)
            if name in _OF_VALUES:
                raise RuntimeError(_SAME)
            return _same(level, func, args, kwargs, name)

        known.draws = True
        for name in names.split():
            RULES[name] = known
        return known

    return decorate


_OF_VALUES = {"bernoulli", "multinomial", "poisson", "binomial", "_standard_gamma", "normal"}
_IF_TRAINING = {"dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "rrelu"}


def _trains(name, args, kwargs):
    given = kwargs.get("training", kwargs.get("train"))
    position = 4 if name == "rrelu" else 3
    after = args[position - 1] if len(args) >= position else name in ("dropout", "feature_dropout")
    probability = kwargs.get("p", args[1] if len(args) > 1 else 0.5)
    trained = after if given is None else given
    return trained and (name == "rrelu" or probability != 0)


@random("rand randn")
def of_size(level, func, *size, **options):
    """Of a size, for each element."""
    size = options.pop("size", sizes_of(size))
    return level.batched(func(level.size, *size, **options))


@random("randint")
def randint(level, func, *args, **options):
    """Integers for each element."""
    size = options.pop("size", None)
    if size is None:
        *args, size = args
    return level.batched(func(*args, (level.size, *size), **options))


@random("randperm")
def randperm(level, func, n, **options):
    """A permutation for each element."""
    return level.batched(_C.stack([func(n, **options) for _ in range(level.size)]))


@random("normal")
def normal(level, func, mean, std=1.0, size=None, **options):
    """Numbers of given means, or of a size."""
    if size is not None:
        return level.batched(func(mean, std, (level.size, *size), **options))
    return _spread(level, func, mean, std, **options)


@random("rand_like randn_like randint_like bernoulli poisson multinomial _standard_gamma binomial "
        "dropout alpha_dropout feature_dropout feature_alpha_dropout rrelu")  # fmt: skip
def _spread(level, func, input, *args, **options):
    # Of the whole batch at once: its elements are drawn one by one anyway.
    tensors = [x for x in (input, *args) if isinstance(x, _C.Tensor)]
    rank = max(x.dim() for x in tensors)
    batch = [level.aligned(level.batched(level.spread(x)), rank) if isinstance(x, _C.Tensor) else x
             for x in (input, *args)]  # fmt: skip
    if func.__name__.startswith("feature"):  # whole channels, of which each element has its own
        if rank < 3:
            return looped(level, func, (level.batched(batch[0]), *args), options)
        found = func(batch[0].flatten(0, 1), *args, **options)
        return level.batched(found.unflatten(0, batch[0].shape[:2]))
    return level.batched(func(*batch, **options))


@random("uniform_ normal_ random_ bernoulli_ exponential_ geometric_ log_normal_ cauchy_ dropout_")
def in_place(level, func, input, *args, **options):
    """Written to the first argument."""
    if not level.holds(input):
        raise RuntimeError(_UNBATCHED)
    func(input._value, *map(level.value, args), **options)
    return input


@random("fractional_max_pool2d fractional_max_pool3d fractional_max_pool2d_with_indices "
        "fractional_max_pool3d_with_indices")  # fmt: skip
def fractional_pool(level, func, *args, **options):
    """Windows at random positions."""
    return looped(level, func, args, options)
