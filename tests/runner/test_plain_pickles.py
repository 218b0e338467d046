"""Plain pickles: torch's, read in a program whose torch is rushlight, and that program's, in torch;
the recipe that gives their storages another device."""

import io
import pickle
import subprocess
import sys

import pytest

import rushlight
from tests.runner.test_alias import output

# zlib.compress(pickle.dumps(things, 4), 9) of torch 2.13: a vector, its transposed view, bools,
# uint16, a conjugated complex number, a storage, a layer, a sparse matrix, names, an optimizer.
BY_TORCH = (
    "eNrtV01v2zYYlmzFcZ20zRqsw9Jh2NHrwUhs10lPLZoiPajL1gYbfAkI2qIttpJoiWTSFAiQHpLFA4Edpt122HF/Yd"
    "/bP9l1+wcDCmyvRMUfiR3kuAw1IsckH1Hko/d93ocH1td/LRjpZzsuq3nBorZbQVJQj8fqBopIS1LPQYIEnEVopxp/"
    "BbCrGsbhH+6SWC0gj2EHdSLmo9aeIBxQDxZNwzjIfVHyXn+z8fcHz7775N3KQe6jP/PwvR8a5Wby2F7EBGszD+2QiF"
    "MWhCYAmldhxKNCeASRwKE4CHPHzRJ0ir0eQZy+JDzM74dWuTkDndxlkQhn7FwzDy0aiLBgW00rmYMF3XDWtqSEZ5ab"
    "swlYLzk02ukWShuwcLGlO0uh2bwGmLv1Wq1RW6muLlcbdxqhnrfdk2HeLmyK0HoCs22HxiSsiSsFY/RzcA++7sMfXA"
    "dwfXs/PoyfxrZhFw5j2zyM+2oO9u+RtoDtA+VzH0cOiYjzkLYFsPjh01gA3s2X3cIbRs9nNG/njoBTO38U991ro8yt"
    "v/7P0/aAMW8Sa9Vqo16vrq2Ms5abyNoQC6zlMr5M44SfXBZxQ27MCRleSzIcgu3KJQi2EwUqfRokcztTCazV7lbHCL"
    "SmE5higUBrQOAUCtVMuohYFSQse6UBxA1ztXQZcnWd+T2PvDg3ZVfurNTGg8+cmrIaC9yZ4+k64M8c5W8/VlabBc/i"
    "Y57y9kbgzhM49Y4O+SCo+MyRHuEVjwYERxB/j/UPKBevgNWyKooI04AG3fhYzaEejrBPBNCVDhZ2Ce26Yjz7BxiYRA"
    "dw/lK/C8jk2kpjbXn5YrKZYUdkU78DY1BczLS45GxztLgcp78+T96O1aKYx+6Grjf/XGrmqmv1eqN+gZwfYk/l/MR8"
    "H2dMqiJqyU5Hh6W6hQIWoF7CBodSJE7GECci/jJWi6iF2893cQSxGhHkMvYc6E5l+PpwaLT7JqIcdaTnjQ/Hm+oa6r"
    "DoDH5pvBftUuGi5L7uCeK9Uwjs7eI9jtoY/JuTYW4MMKeX+f7ZkQnPeAtxgQVBDvi/sdvfHh04PfeSNuDnIG6dRTA+"
    "/oQiyoQleR9zNEAdgoWMoG3n1DyTYqTDlC3Qj5sD/eAgIJxkJgI0RC1mBZpEFHv0JU7sLcyKukQgD+/BbAlqIUPpu9"
    "uMpYFT1gq0dBkU6DFAphWDanX1VOm0phYDjR2xHcbAfkxuDyzJJGH6P0h4ykq9sVq9gIQPsWMSnpTSoRid8b8DA2dt"
    "wY4gHjWZCfxYxEdpJN5Ws51khbXk5Ou+Gh59I+pA0h9qG53VZnAzgnYlkzzJdR+nMV5MMkTQ5HA3C9GPhUgTpJgdtd"
    "ehsqPPMKRJyyMbMtAHwXUP8+QUrfKcBulSTjIK6n8nQ2EPlh4RT6bOU13XANYT1K/wrgM3bz16OOIKHNLB0hPaBuS8"
    "KH507w9NlCr6zAfVlT4Qpa442O+R1D9Aa177BeSQNt5LOooBAYmO2A4cXos+fkH9hL0+EMUigoFPUFiHJuoNM6bbgs"
    "GZjuTA16ZUM6kGxe68mssW5Oiz7ihTVtaXOp/51J2gbsRkj8fb2sWkfUmr7D5xt4n7/WAz7g+24f4I109w/dx3f+m7"
    "v266v/Xd3zclli1S+RfYKza+"
)
SHOW = """
    import base64, io, pickle, sys, warnings, zlib
    import torch
    warnings.simplefilter("ignore")

    class OnTheCPU(pickle.Unpickler):
        storages = 0

        def find_class(self, module, name):
            if (module, name) != ("torch.storage", "_load_from_bytes"):
                return super().find_class(module, name)
            OnTheCPU.storages += 1
            return lambda b: torch.load(io.BytesIO(b), map_location="cpu")

    def show(things):
        x, t, flags, short, number, storage, layer, sparse, names, optimizer = things
        print(x.tolist(), t.tolist(), t.stride(), flags.tolist(), short.tolist(), number.item())
        print(storage.tolist(), storage.dtype, layer(torch.ones(1, 2)).tolist(), layer.weight.grad)
        print(sparse.to_dense().tolist(), names[:3], names[3] is torch.sin)
        print(names[4] is torch.nn.functional.relu, optimizer.param_groups[0]["lr"])
"""
SHOWN = """\
[0.0, 1.0, 2.0, 3.0, 4.0, 5.0] [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]] (1, 3) [True, False] [1, 1] (1-0j)
[0.0, 1.0, 2.0, 3.0, 4.0, 5.0] torch.float32 [[5.0]] None
[[1.0, 0.0], [0.0, 1.0]] (torch.float32, torch.strided, torch.contiguous_format) True
True 0.5
"""  # noqa: E501
MAKE = """
    x = torch.arange(6.0)
    layer = torch.nn.Linear(2, 1)
    torch.nn.init.constant_(layer.weight, 2.0)
    torch.nn.init.constant_(layer.bias, 1.0)
    short, number = torch.ones(2, dtype=torch.uint16), torch.ones(1, dtype=torch.complex64).conj()
    names = (torch.float32, torch.strided, torch.contiguous_format, torch.sin)
    names = (*names, torch.nn.functional.relu)
    optimizer = torch.optim.SGD(layer.parameters(), 0.5)
    flags, sparse = torch.tensor([True, False]), torch.eye(2).to_sparse()
    things = [x, x.view(2, 3).t(), flags, short, number, x.storage(), layer, sparse, names]
    things.append(optimizer)
"""


def test_torchs_are_read(tmp_path):
    source = f"""{SHOW}
    content = zlib.decompress(base64.b64decode({BY_TORCH!r}))
    show(pickle.loads(content))
    show(OnTheCPU(io.BytesIO(content)).load())
    print(OnTheCPU.storages)
    """
    assert output(tmp_path, source) == f"{SHOWN}{SHOWN}1\n"  # the name is looked up once


@pytest.mark.parametrize("protocol", [2, 5])
def test_ours_are_read_by_the_recipe(tmp_path, protocol):
    source = f"""{SHOW}{MAKE}
    content = pickle.dumps(things, {protocol})
    show(OnTheCPU(io.BytesIO(content)).load())
    print(OnTheCPU.storages)
    """
    assert output(tmp_path, source) == f"{SHOWN}1\n"


def test_ours_are_read_by_torch(tmp_path, peer):
    source = f"""{SHOW}{MAKE}
    things[3] = x  # torch reads no plain pickle of the newer dtypes, its own neither
    for protocol in (2, 3, 4, 5):
        with open(sys.argv[1] + str(protocol), "wb") as file:
            pickle.dump(things[:8] + [()] + things[9:], file, protocol)
    """
    output(tmp_path, source, str(tmp_path / "pickled"))
    program = (
        "import pickle, sys, warnings, torch; warnings.simplefilter('ignore')\n"
        "for p in '2345':\n"
        " t = pickle.load(open(sys.argv[1] + p, 'rb'))\n"
        " print(t[0].tolist(), t[1].stride(), t[4].item(), t[6](torch.ones(1, 2)).tolist())\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "pickled")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    line = "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0] (1, 3) (1-0j) [[5.0]]\n"
    assert (done.returncode, done.stdout) == (0, line * 4), done.stderr


def test_of_a_gpu_that_is_not_there():
    with rushlight.cuda.virtual(1):
        content = pickle.dumps([rushlight.arange(3, device="cuda"), rushlight.ones(2)])
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        pickle.loads(content)

    class OnTheCPU(pickle.Unpickler):
        def find_class(self, module, name):
            if name == "_load_from_bytes":
                return lambda b: rushlight.load(io.BytesIO(b), map_location="cpu")
            return super().find_class(module, name)

    back = OnTheCPU(io.BytesIO(content)).load()
    assert [t.tolist() for t in back] == [[0, 1, 2], [1, 1]]
    assert all(t.device.type == "cpu" for t in back)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("count", [0, 1, 255, 256, 65535, 65536])
def test_storages(count):
    from rushlight.storage import _load_from_bytes

    for dtype in (rushlight.float64, rushlight.bool, rushlight.uint16, rushlight.float8_e5m2):
        storage = rushlight.zeros(count, dtype=dtype).storage()
        back = pickle.loads(pickle.dumps(storage))
        assert type(back) is type(storage) and back.dtype is dtype and len(back) == count
        untyped = storage.untyped()
        back = pickle.loads(pickle.dumps(untyped))
        assert type(back) is type(untyped) and back.nbytes() == untyped.nbytes()
    content = rushlight.arange(count).storage().__reduce__()[1][0]
    # What the quick reader does not know, the general one reads.
    assert _load_from_bytes(bytearray(content)).tolist() == list(range(count))
    assert rushlight.load(io.BytesIO(content)).tolist() == list(range(count))
    with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
        _load_from_bytes(content[:-1])


def test_a_file_may_not_ask_for_it():
    """torch.load of weights alone refuses what plain pickles call, as torch does."""

    class Nested:
        def __reduce__(self):
            from rushlight.storage import _load_from_bytes

            return _load_from_bytes, (b"",)

    file = io.BytesIO()
    rushlight.save(Nested(), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        rushlight.load(file)
