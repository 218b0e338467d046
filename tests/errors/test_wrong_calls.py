"""Wrong calls that users make, and the message that each must give: a table, one file a topic."""

import pytest

import rushlight
from tests.conftest import ask
from tests.errors import autograd, creation, devices, indexing, layers, operations, training

CPU_ROWS = [
    row
    for table in (operations, indexing, creation, autograd, layers, training)
    for row in table.ROWS
]


def run(row, torch):
    exec(row.code, {"torch": torch, "nn": torch.nn, "F": torch.nn.functional})


def check(row):
    with pytest.raises(row.error) as caught:
        run(row, rushlight)
    text = str(caught.value)
    assert text.startswith(row.words)
    for part in row.also:
        assert part in text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", CPU_ROWS, ids=repr)
def test_message(row):
    check(row)


@pytest.mark.parametrize("row", devices.ROWS, ids=repr)
def test_message_on_virtual_gpus(row):
    with rushlight.cuda.virtual(2, memory="64MiB"):
        check(row)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", [r for r in CPU_ROWS if not r.ours], ids=repr)
def test_words_are_those_of_torch(row):
    with pytest.raises(row.error) as caught:
        ask(lambda torch: run(row, torch))
    assert str(caught.value).split("\n")[0].strip() == row.words.strip()


def test_the_table_is_long():
    assert len(CPU_ROWS) + len(devices.ROWS) >= 60
