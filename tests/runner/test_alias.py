"""`import torch` under `rushlight run`: the same objects, our own words, never the real torch."""

import subprocess
import sys
import textwrap

import pytest


def run(tmp_path, source, *arguments, options=(), stdin="", file="program.py"):
    """`rushlight run` of a program; its completed process."""
    path = tmp_path / file
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    command = [sys.executable, "-m", "rushlight", "run", *options, str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=120)


def output(*given, **options):
    done = run(*given, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_names_are_the_same_objects(tmp_path):
    source = """
        import torch, torchvision, torch.nn as nn, torch.nn.functional as F, rushlight
        import torch.utils.data
        import torchvision.transforms as T
        from torch import nn as nn2
        from torch.utils.data import DataLoader
        assert torch.nn is rushlight.nn is nn is nn2
        assert F is rushlight.nn.functional and torch.nn.functional is F
        assert torch.nn.Linear is rushlight.nn.Linear and torch.relu is rushlight.relu
        assert torchvision.transforms is T is rushlight.vision.transforms
        assert torch.utils.data is rushlight.utils.data
        assert torch.cuda is rushlight.cuda
        assert rushlight.nn.__name__ == rushlight.nn.__spec__.name == "rushlight.nn"
        print("same")
    """
    assert output(tmp_path, source) == "same\n"


def test_a_module_does_not_replace_the_function_of_its_name(tmp_path):
    source = """
        import torch.multiprocessing as mp
        from torch.multiprocessing.spawn import ProcessRaisedException
        import torch.multiprocessing.spawn
        assert mp.ProcessRaisedException is ProcessRaisedException
        print(type(mp.spawn).__name__)
    """
    assert output(tmp_path, source) == "function\n"


def test_annotations_of_classes_are_found(tmp_path):
    source = """
        import typing
        import torch
        import torch.distributed.checkpoint as checkpoint, torch.distributed.fsdp as fsdp
        class Mine(fsdp.FSDPModule, torch.nn.Linear):
            pass
        kinds = [
            Mine, fsdp.MixedPrecisionPolicy, fsdp.StateDictSettings, checkpoint.Metadata,
            torch.distributions.Independent, torch.distributed.GroupMember, torch.nn.Linear,
        ]
        print([len(typing.get_type_hints(kind)) > 0 for kind in kinds].count(True))
        assert torch.distributed.fsdp is fsdp and fsdp.__name__ == "rushlight.distributed.fsdp"
    """
    assert output(tmp_path, source) == "7\n"


def test_versions(tmp_path):
    source = """
        import torch, torchvision, rushlight
        print(torch.__version__, torch.version.__version__, rushlight.__version__)
        print(torchvision.__version__, torch.version.cuda is rushlight.version.cuda)
        assert tuple(int(x) for x in torch.__version__.split("+")[0].split(".")) >= (2, 0, 0)
    """
    from rushlight import __version__

    short = ".".join(__version__.split(".")[:2])
    assert output(tmp_path, source) == (
        f"2.13.0+rushlight{short} 2.13.0+rushlight{short} {__version__}\n"
        f"0.28.0+rushlight{short} True\n"
    )


def test_metadata_of_packages(tmp_path):
    source = """
        import importlib.metadata as metadata, importlib.util as util
        assert util.find_spec("torch") is not None
        print(metadata.version("torch"), metadata.distribution("torchvision").metadata["Name"])
        assert metadata.packages_distributions()["torch"][0] == "torch"
        assert metadata.version("pytest")
        try:
            metadata.version("torchaudio")
        except metadata.PackageNotFoundError:
            print("no torchaudio")
    """
    from rushlight import __version__

    short = ".".join(__version__.split(".")[:2])
    wanted = f"2.13.0+rushlight{short} torchvision\nno torchaudio\n"
    assert output(tmp_path, source) == wanted


@pytest.mark.parametrize(
    ("line", "error", "name"),
    [
        ("import torch.nonsense", "ModuleNotFoundError", "torch.nonsense"),
        ("import torch.utils.nonsense.deep", "ModuleNotFoundError", "torch.utils.nonsense"),
        ("from torch import nonsense", "ModuleNotFoundError", "torch.nonsense"),
        ("from torch.nn import Nonsense", "ModuleNotFoundError", "torch.nn.Nonsense"),
        ("import torch; torch.nonsense", "AttributeError", "torch.nonsense"),
        ("import torch; torch.nn.Nonsense", "AttributeError", "torch.nn.Nonsense"),
        ("import torch; torch.nn.functional.nonsense", "AttributeError", "torch.nn.functional"),
        ("import torchvision; torchvision.nonsense", "AttributeError", "torchvision.nonsense"),
        ("import torch.vision", "ModuleNotFoundError", "torch.vision"),
    ],
)
def test_a_name_that_is_absent_is_named(tmp_path, line, error, name):
    done = run(tmp_path, line)
    assert done.returncode == 1
    last = done.stderr.rstrip().splitlines()[-1]
    assert last.startswith(f"{error}: {name}") and "is not in rushlight 0." in last


def test_absent_modules_can_be_probed(tmp_path):
    source = """
        import importlib.util, torch
        assert importlib.util.find_spec("torch.nonsense") is None
        assert importlib.util.find_spec("torch.nn") is not None
        assert not hasattr(torch, "nonsense") and not hasattr(torch.nn, "nonsense")
        try:
            import torch.nonsense
        except ImportError:
            print("absent")
    """
    assert output(tmp_path, source) == "absent\n"


def test_the_real_torch_is_never_found(tmp_path):
    """Even where one lies first on the path."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise SystemExit('the wrong torch')")
    (tmp_path / "torch" / "special.py").write_text("raise SystemExit('the wrong torch')")
    (tmp_path / "torchvision.py").write_text("raise SystemExit('the wrong torchvision')")
    source = """
        import torch, torchvision
        print(torch.__version__.partition("+")[2][:9])
        try:
            import torch.cond
        except ModuleNotFoundError as error:
            print(error)
    """
    assert output(tmp_path, source).startswith("rushlight\ntorch.cond is not in rushlight")


def test_programs_that_it_starts_are_untouched(tmp_path):
    source = """
        import subprocess, sys, torch
        code = "import sys; print([type(f).__name__ for f in sys.meta_path])"
        print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    """
    assert "AliasFinder" not in output(tmp_path, source)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_have_it_too(tmp_path, method):
    source = f"""
        import multiprocessing as mp
        import torch, sys

        def work(queue):
            import torch.nn as nn
            name = torch.__version__.partition("+")[2][:9]
            queue.put((name, nn.__name__, __name__, sys.argv[1:]))

        if __name__ == "__main__":
            context = mp.get_context({method!r})
            queue = context.Queue()
            process = context.Process(target=work, args=(queue,))
            process.start()
            print(queue.get(timeout=60))
            process.join()
    """
    main = "__main__" if method == "fork" else "__mp_main__"
    expected = ("rushlight", "rushlight.nn", main, ["a", "b"])
    assert output(tmp_path, source, "a", "b") == f"{expected}\n"


def test_as_torch_in_a_plain_process():
    code = "import rushlight; t = rushlight.as_torch(); import torch; assert t is torch; t.nn"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_as_torch_after_the_real_one_refuses(tmp_path):
    (tmp_path / "torch.py").write_text("")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import torch, rushlight\n"
    code += "try: rushlight.as_torch()\nexcept RuntimeError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "torch has been imported in this process before" in done.stdout


def test_classes_have_torchs_names(tmp_path):
    source = """
        import io, pickle, torch, copy
        from torch import nn
        x = torch.ones(2)
        print(type(x), type(x.shape), type(x.dtype), type(x.device), type(nn.Parameter(x)))
        print(type(nn.Linear(1, 1)), torch.optim.SGD, torch.utils.data.DataLoader)
        assert nn.Linear.__module__ == "torch.nn.modules.linear"
        print(nn.Parameter(x))
        model = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
        pair = model, x
        for again in (pickle.loads(pickle.dumps(pair)), copy.deepcopy(pair)):
            assert type(again[0][0]) is nn.Linear and torch.equal(again[1], x)
        file = io.BytesIO()
        torch.save((model, x.shape, nn.Parameter(x)), file)
        file.seek(0)
        again = torch.load(file, weights_only=False)
        assert type(again[0]) is nn.Sequential and type(again[2]) is nn.Parameter
        file.seek(0)
        assert b"rushlight" not in file.read()
    """
    first, second, *parameter = output(tmp_path, source).splitlines()
    names = ("Tensor", "Size", "dtype", "device", "nn.parameter.Parameter")
    assert first == " ".join(f"<class 'torch.{name}'>" for name in names)
    assert second == (
        "<class 'torch.nn.modules.linear.Linear'> <class 'torch.optim.sgd.SGD'> "
        "<class 'torch.utils.data.dataloader.DataLoader'>"
    )
    assert parameter == ["Parameter containing:", "tensor([1., 1.], requires_grad=True)"]


def test_distributions_grow_under_the_alias(tmp_path):
    source = """
        import torch
        D = torch.distributions
        class Own(D.Normal):
            pass
        print(Own(0.0, 1.0).expand((2,)).loc.shape, D.LogNormal(0.0, 1.0).expand((3,)).loc.shape)
    """
    assert output(tmp_path, source) == "torch.Size([2]) torch.Size([3])\n"


def test_functions_have_their_rules_under_vmap_and_in_lists_of_models(tmp_path):
    """What looks up a function by its module finds it under both names."""
    source = """
        import warnings
        import torch, torchvision
        from torchvision import models
        warnings.simplefilter("error")
        x = torch.ones(3, 5)
        print(torch.vmap(torch.nn.functional.mse_loss)(x, x * 3).tolist())
        print(torch.nn.functional.relu(torch.eye(2).to_sparse()).is_sparse)
        print(len(models.list_models(module=models.segmentation, include="fcn*")))
        print("resnet18" in models.list_models(module=models))
        layer = torch.nn.Linear(5, 2)
        layer.register_full_backward_hook(lambda module, grads, outer: None)
        print(torch.func.grad(lambda x: layer(x).sum())(x).shape)
    """
    shown = "[4.0, 4.0, 4.0]\nTrue\n2\nTrue\ntorch.Size([3, 5])\n"
    assert output(tmp_path, source) == shown
