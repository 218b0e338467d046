"""Data sets and samplers against torch's: samples, errors, and every draw."""

import pytest

import rushlight
from rushlight.utils import data as ours
from tests.conftest import ask


def both(function):
    """function(library, its data module) for us and for torch."""
    return function(rushlight, ours), ask(lambda torch: function(torch, torch.utils.data))


def plain(value):
    """Tensors as lists, so that two libraries' results compare."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


class Count(ours.IterableDataset):
    def __init__(self, size):
        self.size = size

    def __iter__(self):
        return iter(range(self.size))

    def __len__(self):
        return self.size


def test_abstract_methods():
    with pytest.raises(NotImplementedError, match="should implement __getitem__"):
        ours.Dataset()[0]
    with pytest.raises(TypeError, match="abstract"):
        ours.IterableDataset()
    assert issubclass(ours.Dataset[int], ours.Dataset)
    assert issubclass(ours.Sampler[int], ours.Sampler)


def test_tensor_dataset():
    data = ours.TensorDataset(rushlight.arange(4), rushlight.arange(8).view(4, 2))
    assert len(data) == 4
    assert plain(data[3]) == [3, [6, 7]]
    assert plain(data[1:3]) == [[1, 2], [[2, 3], [4, 5]]]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        ours.TensorDataset(rushlight.zeros(2), rushlight.zeros(3))


def test_concat_and_chain():
    parts = [1, 2, 3, 4, 5]
    joined = ours.ConcatDataset([[1, 2], [3, 4, 5]])
    assert [joined[i] for i in range(len(joined))] == parts
    assert [joined[i] for i in range(-5, 0)] == parts
    assert joined.cumulative_sizes == [2, 5]
    with pytest.raises(ValueError, match="absolute value of index"):
        joined[-6]
    with pytest.raises(IndexError):
        joined[5]
    with pytest.raises(AssertionError, match="should not be an empty iterable"):
        ours.ConcatDataset([])
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        ours.ConcatDataset([Count(2)])
    tensors = ours.TensorDataset(rushlight.arange(2))
    assert plain((tensors + tensors)[3]) == [1]
    chain = Count(2) + Count(3)
    assert list(chain) == [0, 1, 0, 1, 2]
    assert len(chain) == 5
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        list(ours.ChainDataset([[1]]))


def test_stack_dataset():
    assert ours.StackDataset([1, 2], [3, 4])[1] == (2, 4)
    named = ours.StackDataset(a=[1, 2], b=ours.Subset([5, 6, 7], [2, 0]))
    assert named[0] == {"a": 1, "b": 7}
    assert named.__getitems__([1, 0]) == [{"a": 2, "b": 5}, {"a": 1, "b": 7}]
    assert ours.StackDataset([1, 2], [3, 4]).__getitems__([1]) == [(2, 4)]
    with pytest.raises(ValueError, match="both types are given"):
        ours.StackDataset([1], a=[1])
    with pytest.raises(ValueError, match="Size mismatch"):
        ours.StackDataset([1], [1, 2])
    with pytest.raises(ValueError, match="At least one"):
        ours.StackDataset()


def test_subset():
    part = ours.Subset("abcdef", [5, 0, 2])
    assert [part[i] for i in range(3)] == ["f", "a", "c"]
    assert part.__getitems__([2, 0]) == ["c", "f"]

    class Changed(ours.Subset):
        def __getitem__(self, index):
            return self.dataset[self.indices[index]].upper()

    with pytest.raises(NotImplementedError, match="Changed overrides __getitem__"):
        Changed("abc", [0])


def _subset_indices(library):
    import numpy

    frozen = numpy.array([4, 0, 3])
    frozen.flags.writeable = False
    return [
        [4, 0, 3], (4, 0, 3), numpy.array([4, 0, 3]), numpy.array([3, 0, 4])[::-1], frozen,
        numpy.array([4, 0, 3], dtype=numpy.int32), numpy.array([-1, 0, 3]), [4, -5, 3],
        library.tensor([4, 0, 3]), library.tensor([-1, 0, 3]), range(4, -1, -2),
        library.tensor([4, 0, 3], dtype=library.int32), [library.tensor(4), 0, 3],
        numpy.array([4.0, 0, 3]).astype(int),
    ]  # fmt: skip


@pytest.mark.parametrize("case", range(14))
@pytest.mark.parametrize("shuffle", [False, True])
def test_batches_of_a_subset(case, shuffle):
    def run(library, data):
        library.manual_seed(3)
        whole = data.TensorDataset(library.arange(5) * 10, library.arange(10).view(5, 2))
        part = data.Subset(whole, _subset_indices(library)[case])
        nested = data.Subset(part, [2, 1])
        return [
            [[column.tolist() for column in batch] for batch in data.DataLoader(d, 2, shuffle)]
            for d in (part, nested)
        ]

    mine, theirs = both(run)
    assert mine == theirs


def test_subset_beyond_its_data_set():
    whole = ours.TensorDataset(rushlight.arange(5))
    for indices in ([5], rushlight.tensor([5]), rushlight.tensor([-6]).numpy()):
        with pytest.raises(IndexError):
            list(ours.DataLoader(ours.Subset(whole, indices), 1))
    with pytest.raises(IndexError, match="out of"):
        list(ours.DataLoader(whole, 4, sampler=ours.WeightedRandomSampler([0.0] * 9 + [1.0], 4)))


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("replacement", [False, True])
def test_batches_by_weight(drop_last, replacement):
    def run(library, data):
        library.manual_seed(3)
        generator = library.Generator().manual_seed(8)
        found = []
        for g in (None, generator):
            sampler = data.WeightedRandomSampler([0.1, 0.5, 0.2, 1, 3, 0.7], 5, replacement, g)
            loader = data.DataLoader(
                data.TensorDataset(library.arange(6)), 2, sampler=sampler, drop_last=drop_last
            )
            found += [batch.tolist() for _ in range(2) for (batch,) in loader]
        return found, library.rand(1).item(), library.rand(1, generator=generator).item()

    mine, theirs = both(run)
    assert mine == theirs


@pytest.mark.parametrize(
    "lengths", [[7, 3], [0.5, 0.5], [0.3, 0.3, 0.4], [1 / 3, 1 / 3, 1 / 3], (10,), [1, 9, 0]]
)
def test_random_split(lengths):
    def split(library, data):
        parts = data.random_split(range(10), lengths, generator=library.Generator().manual_seed(42))
        return [list(part) for part in parts]

    mine, theirs = both(split)
    assert mine == theirs


def test_random_split_draws_from_the_default_generator():
    def split(library, data):
        library.manual_seed(1)
        return [list(p) for p in data.random_split(range(6), [4, 2])], library.rand(1).item()

    mine, theirs = both(split)
    assert mine == theirs


def test_random_split_errors():
    with pytest.raises(ValueError, match="Sum of input lengths does not equal"):
        ours.random_split(range(10), [3, 3])
    with pytest.raises(ValueError, match="Fraction at index 0"):
        ours.random_split(range(10), [-0.5, 1.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        ours.random_split(range(1), [0.5, 0.5])


SAMPLERS = [
    lambda d, g: d.SequentialSampler(range(5)),
    lambda d, g: d.RandomSampler(range(9)),
    lambda d, g: d.RandomSampler(range(9), generator=g),
    lambda d, g: d.RandomSampler(range(9), num_samples=4),
    lambda d, g: d.RandomSampler(range(9), num_samples=30, generator=g),
    lambda d, g: d.RandomSampler(range(9), replacement=True, num_samples=70),
    lambda d, g: d.RandomSampler(range(9), True, 3, g),
    lambda d, g: d.SubsetRandomSampler([4, 9, 1, 5]),
    lambda d, g: d.SubsetRandomSampler([4, 9, 1, 5], generator=g),
    lambda d, g: d.BatchSampler(range(7), 3, False),
    lambda d, g: d.BatchSampler(d.RandomSampler(range(7)), 3, True),
    lambda d, g: d.BatchSampler(iter("abcd"), 3, False),
    lambda d, g: d.DistributedSampler(range(11), 3, 1, seed=4),
    lambda d, g: d.DistributedSampler(range(11), 3, 2, shuffle=False, drop_last=True),
    lambda d, g: d.DistributedSampler(range(2), 5, 3, shuffle=False),
]


@pytest.mark.filterwarnings("ignore:DistributedSampler gives the order")
@pytest.mark.parametrize("make", SAMPLERS)
def test_sampler_draws(make):
    def run(library, data):
        library.manual_seed(7)
        generator = library.Generator().manual_seed(8)
        sampler = make(data, generator)
        drawn = [list(sampler), list(sampler)]
        return drawn, library.rand(1).item(), library.rand(1, generator=generator).item()

    mine, theirs = both(run)
    assert mine == theirs


@pytest.mark.parametrize("replacement", [True, False])
def test_weighted_sampler(replacement):
    def run(library, data):
        library.manual_seed(7)
        weights = [0.1, 0.9, 0.4, 0.7, 3.0, 0.6]
        return list(data.WeightedRandomSampler(weights, 5, replacement))

    mine, theirs = both(run)
    assert mine == theirs


def test_samplers_draw_when_the_first_index_is_asked_for():
    def run(library, data):
        samplers = (
            data.RandomSampler(range(6)),
            data.RandomSampler(range(6), replacement=True),
            data.SubsetRandomSampler(range(6)),
            data.WeightedRandomSampler([1.0, 2.0, 3.0], 5),
        )
        drawn = []
        for sampler in samplers:
            iterator = iter(sampler)
            library.manual_seed(3)
            drawn.append(list(iterator))
        return drawn

    mine, theirs = both(run)
    assert mine == theirs


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d.RandomSampler([]),
        lambda d: d.RandomSampler([1], replacement=1),
        lambda d: d.RandomSampler([1], num_samples=0),
        lambda d: d.BatchSampler([1], 0, False),
        lambda d: d.BatchSampler([1], True, False),
        lambda d: d.BatchSampler([1], 2, 1),
        lambda d: d.WeightedRandomSampler([1.0], 0),
        lambda d: d.WeightedRandomSampler([1.0], 1, replacement=1),
        lambda d: d.WeightedRandomSampler([[1.0]], 1),
        lambda d: d.DistributedSampler([1], 2, 2),
    ],
)
def test_sampler_errors(make):
    def words(library, data):
        with pytest.raises((TypeError, ValueError)) as caught:
            make(data)
        return caught.type, str(caught.value).splitlines()[0]

    mine, theirs = both(words)
    assert mine == theirs


def test_lengths():
    assert len(ours.RandomSampler(range(9), num_samples=4)) == 4
    assert len(ours.BatchSampler(range(7), 3, False)) == 3
    assert len(ours.BatchSampler(range(7), 3, True)) == 2
    assert len(ours.DistributedSampler(range(11), 3, 0)) == 4


def test_a_batch_sampler_of_another_class_may_lack_its_attributes():
    class Own(ours.BatchSampler):
        def __init__(self):
            pass

        def __iter__(self):
            yield [1, 0]

        def __len__(self):
            return 1

    data = ours.TensorDataset(rushlight.arange(3))
    ((batch,),) = ours.DataLoader(data, batch_sampler=Own())
    assert batch.tolist() == [1, 0]
