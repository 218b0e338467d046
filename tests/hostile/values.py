"""Arguments that no program should pass, and objects that misbehave while they are read."""

import rushlight as torch

BIG = 2**63 - 1
SMALL = -(2**63)


def in_itself():
    loop = [1]
    loop.append(loop)
    return loop


def deep(n=100_000):
    nest = []
    for _ in range(n):
        nest = [nest]
    return nest


class Index:
    """An integer that does something when its value is read."""

    def __init__(self, value, act=lambda: None):
        self.value, self.act = value, act

    def __index__(self):
        self.act()
        return self.value


class Failing:
    """Everything about it raises."""

    def __index__(self):
        raise ZeroDivisionError("no index")

    def __len__(self):
        raise ZeroDivisionError("no length")

    def __getitem__(self, i):
        raise ZeroDivisionError("no item")

    def __float__(self):
        raise ZeroDivisionError("no float")

    def __bool__(self):
        raise ZeroDivisionError("no truth")


class Lying:
    """A sequence whose length is not that of its items."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError
        return i


class Shrinking(list):
    """A list that empties itself when an item of it is read."""

    def __getitem__(self, i):
        self.clear()
        return 1

    def __iter__(self):
        self.clear()
        return iter([1, 2])


def mutating_list():
    """A list whose first item empties it while it is read."""
    items = [None, 2, 3, 4]
    items[0] = Index(1, items.clear)
    return items


def wrong():
    """One of each kind of thing, made anew."""
    return [
        None,
        True,
        -1,
        0,
        BIG,
        SMALL,
        2**64,
        10**400,
        float("nan"),
        float("inf"),
        -0.0,
        1j,
        "",
        "x" * 100,
        "\ud800",
        b"ab",
        (),
        [],
        [[]],
        {},
        {1: 2},
        object(),
        type,
        len,
        slice(None),
        ...,
        in_itself(),
        [BIG] * 3,
        [SMALL, SMALL],
        [1] * 9,
        [0] * 70,
        [-1, -1],
        [None],
        [Failing()],
        Failing(),
        Lying(10**9),
        Lying(-1),
        Shrinking([1, 2, 3]),
        mutating_list(),
        Index(BIG),
        torch.float32,
        torch.device("cpu"),
        torch.zeros(0),
        torch.tensor(3),
        torch.tensor(BIG),
        torch.tensor([SMALL, BIG]),
        torch.tensor([float("nan"), float("inf")]),
        torch.zeros(2, 3, dtype=torch.bool),
        torch.zeros(1, 1, 1, 1, 1, 1, 1, 1),
        torch.zeros(3).expand(4, 3),
        torch.zeros((), dtype=torch.float64, requires_grad=True),
        torch.zeros(2, 0, 3),
        torch.Tensor,
        torch.zeros(2, 2, device="meta"),
    ]


def operands():
    """Tensors of every awkward geometry."""
    return {
        "scalar": torch.tensor(1.5),
        "empty": torch.zeros(0),
        "empty 3-d": torch.zeros(2, 0, 3),
        "vector": torch.arange(5.0),
        "matrix": torch.arange(6.0).view(2, 3),
        "ints": torch.arange(6).view(2, 3),
        "bools": torch.ones(2, 3, dtype=torch.bool),
        "expanded": torch.ones(1, 3).expand(1000, 3),
        "huge expanded": torch.ones(1).expand(2**40),
        "transposed": torch.arange(24.0).view(2, 3, 4).transpose(0, 2),
        "8-d": torch.ones(1, 2, 1, 2, 1, 2, 1, 2),
        "bytes": torch.zeros(3, dtype=torch.uint8),
        "half": torch.ones(2, 2, dtype=torch.float16),
        "leaf": torch.ones(2, 3, requires_grad=True),
    }
