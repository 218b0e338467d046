"""DataLoader in one process: batches, draws and error texts equal to torch's."""

import itertools

import pytest

import rushlight
from rushlight.utils import data as ours

from .test_datasets import Count, both, plain


class Rows:
    def __init__(self, library, size=100):
        self.rows = library.rand(size, 5)

    def __getitem__(self, index):
        return self.rows[index], index

    def __len__(self):
        return len(self.rows)


OPTIONS = [
    {},
    {"batch_size": 30},
    {"batch_size": 30, "shuffle": True},
    {"batch_size": 30, "shuffle": True, "drop_last": True},
    {"batch_size": 25, "shuffle": True},
    {"batch_size": None},
    {"batch_size": None, "shuffle": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize("kind", ["rows", "tensors", "subset"])
def test_batches_and_draws_are_torchs(options, seeded, kind):
    def run(library, data):
        library.manual_seed(3)
        dataset = Rows(library)
        if kind != "rows":
            dataset = data.TensorDataset(dataset.rows, library.arange(100))
        if kind == "subset":
            dataset = data.random_split(dataset, [0.6, 0.4])[0]
        generator = library.Generator().manual_seed(5) if seeded else None
        loader = data.DataLoader(dataset, generator=generator, **options)
        epochs = [[(batch, library.rand(1).item()) for batch in loader] for _ in range(2)]
        after = library.rand(1, generator=generator) if seeded else library.rand(1)
        return plain(epochs), type(epochs[0][0][0]), len(loader), after.item()

    mine, theirs = both(run)
    assert mine == theirs


def test_generator_moves_with_the_short_batch():
    """Torch draws the sampler's empty second permutation before the last, short batch."""

    def run(library, data):
        generator = library.Generator().manual_seed(5)
        dataset = data.TensorDataset(library.arange(10))
        loader = data.DataLoader(dataset, 4, shuffle=True, generator=generator)
        return [(plain(b), library.rand(1, generator=generator).item()) for b in loader]

    mine, theirs = both(run)
    assert mine == theirs


def test_gather_makes_no_sample():
    class Counting(rushlight.utils.data.TensorDataset):
        calls = 0

        def __getitem__(self, index):
            Counting.calls += 1
            return super().__getitem__(index)

    tensors = rushlight.arange(10), rushlight.arange(10)
    batches = list(ours.DataLoader(Counting(*tensors), 4))
    assert Counting.calls == 10, "an overridden __getitem__ must be used"
    fast = list(ours.DataLoader(ours.TensorDataset(*tensors), 4))
    assert plain(batches) == plain(fast)
    fast[0][0].zero_()
    assert tensors[0].tolist() == list(range(10)), "a batch must not share the data set's memory"


def test_getitems_is_honoured():
    class Batched(ours.Dataset):
        def __getitems__(self, indices):
            return [index * 10 for index in indices]

        def __len__(self):
            return 5

    assert plain(list(ours.DataLoader(Batched(), 2))) == [[0, 10], [20, 30], [40]]


def test_custom_samplers():
    tensors = ours.TensorDataset(rushlight.arange(5))
    assert plain(list(ours.DataLoader(tensors, 2, sampler=[4, -1, 0]))) == [[[4, 4]], [[0]]]
    batches = ours.DataLoader(tensors, batch_sampler=[[0, 1], [2]])
    assert plain(list(batches)) == [[[0, 1]], [[2]]]
    assert len(batches) == 2
    with pytest.raises(IndexError):
        list(ours.DataLoader(tensors, 2, sampler=[7]))
    assert plain(list(ours.DataLoader({"a": 1, "b": 2}, sampler="ba"))) == [[2], [1]]


def test_collate_function():
    loader = ours.DataLoader(range(5), 2, collate_fn=lambda batch: sum(batch))
    assert list(loader) == [1, 5, 4]


def test_streams():
    def run(library, data):
        class Stream(data.IterableDataset):
            def __iter__(self):
                return iter(range(7))

        options = [{}, {"batch_size": 3}, {"batch_size": 3, "drop_last": True}]
        return [
            plain(list(data.DataLoader(Stream(), **option)))
            for option in [*options, {"batch_size": None}]
        ]

    mine, theirs = both(run)
    assert mine == theirs
    assert len(ours.DataLoader(Count(7), 3)) == 3
    assert len(ours.DataLoader(Count(7), 3, drop_last=True)) == 2


@pytest.mark.filterwarnings("ignore:This DataLoader will create 2 worker")  # on one processor
def test_wrong_stream_length_warns():
    class Longer(Count):
        def __len__(self):
            return 2

    loader = ours.DataLoader(Longer(3), batch_size=None)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2"):
        assert len(list(loader)) == 3
    loader = ours.DataLoader(Longer(2), batch_size=None, num_workers=2)
    assert len(loader) == 2
    words = r"[34] samples have been fetched\. For multiprocessing data-loading, this"
    with pytest.warns(UserWarning, match=words):
        assert len(list(loader)) == 4


def test_iterators_are_independent():
    loader = ours.DataLoader(range(4), batch_size=2)
    pairs = [(plain(a), plain(b)) for a, b in itertools.product(loader, loader)]
    assert pairs == list(itertools.product([[0, 1], [2, 3]], repeat=2))
    iterator = iter(loader)
    assert len(iterator) == 2
    next(iterator)
    next(iterator)
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)
    with pytest.raises(NotImplementedError):
        iterator.__getstate__()


WRONG = [
    {"num_workers": -1},
    {"timeout": -1},
    {"prefetch_factor": 2},
    {"prefetch_factor": -1, "num_workers": 1},
    {"persistent_workers": True},
    {"sampler": [0], "shuffle": True},
    {"batch_sampler": [[0]], "batch_size": 2},
    {"batch_sampler": [[0]], "shuffle": True},
    {"batch_sampler": [[0]], "drop_last": True},
    {"batch_size": None, "drop_last": True},
    {"batch_size": 0},
    {"batch_size": 2.5},
    {"multiprocessing_context": "fork"},
    {"multiprocessing_context": "thread", "num_workers": 1},
    {"multiprocessing_context": 3, "num_workers": 1},
]


@pytest.mark.parametrize("options", WRONG, ids=str)
def test_constructor_errors(options):
    def words(library, data):
        with pytest.raises((TypeError, ValueError)) as caught:
            data.DataLoader(range(4), **options)
        return caught.type, str(caught.value).splitlines()[0]

    mine, theirs = both(words)
    assert mine == theirs


def test_workers_that_read_nothing_ahead():
    """In torch's words; its own iterator, half made, would complain when it is freed."""
    loader = rushlight.utils.data.DataLoader(range(4), num_workers=1, prefetch_factor=0)
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0 for"):
        iter(loader)


@pytest.mark.parametrize(
    "options", [{"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}], ids=str
)
def test_stream_errors(options):
    def words(library, data):
        class Stream(data.IterableDataset):
            def __iter__(self):
                return iter(())

        with pytest.raises(ValueError, match="IterableDataset") as caught:
            data.DataLoader(Stream(), **options)
        return str(caught.value).splitlines()[0]

    mine, theirs = both(words)
    assert mine == theirs


def test_fixed_attributes():
    loader = ours.DataLoader(range(4))
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader"):
        loader.batch_size = 3
    with pytest.raises(AssertionError, match="requires timeout == 0"):
        iter(ours.DataLoader(range(4), timeout=3))
    with pytest.raises(ValueError, match="num_samples=0"):
        ours.DataLoader([], shuffle=True)
    assert list(ours.DataLoader([])) == []


def test_pin_memory_without_gpu_warns():
    if rushlight.cuda.is_available():
        pytest.skip("there is a GPU")
    loader = ours.DataLoader(range(4), 2, pin_memory=True)
    with pytest.warns(UserWarning, match="no accelerator is found"):
        assert plain(list(loader)) == [[0, 1], [2, 3]]


def test_pin_memory(virtual_gpus):
    class Custom:
        def pin_memory(self):
            return "pinned"

    tensors = ours.TensorDataset(rushlight.arange(4.0))
    (batch,) = next(iter(ours.DataLoader(tensors, 2, pin_memory=True)))
    assert batch.is_pinned()
    assert batch.tolist() == [0, 1]
    custom = ours.DataLoader(range(2), 2, pin_memory=True, collate_fn=lambda _: [Custom(), "a"])
    assert next(iter(custom)) == ["pinned", "a"]
