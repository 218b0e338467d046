"""SummaryWriter, read back with TensorBoard's own reader."""

import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

import rushlight
from rushlight import nn

pytest.importorskip("tensorboardX")
pytest.importorskip("tensorboard")

from rushlight.utils.tensorboard import SummaryWriter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def events_of(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder), size_guidance={"images": 0, "tensors": 0})
    events.Reload()
    return events


def scalars(folder, tag):
    return [(event.step, event.value) for event in events_of(folder).Scalars(tag)]


def test_scalars(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("number", 1, 0)
        writer.add_scalar("number", 2.5, 1)
        writer.add_scalar("number", rushlight.tensor(3.5, requires_grad=True), rushlight.tensor(2))
        writer.add_scalar("number", numpy.float64(4), 3, walltime=7.0)
        writer.add_scalar("one", rushlight.tensor([[5]]))
        writer.add_scalar("half", rushlight.tensor(0.5, dtype=rushlight.bfloat16), 1)
        with pytest.raises(AssertionError, match="scalar should be 0D") as caught:
            writer.add_scalar("many", rushlight.zeros(3))
    assert "'many' was given shape (3,)" in str(caught.value)
    assert scalars(tmp_path, "number") == [(0, 1.0), (1, 2.5), (2, 3.5), (3, 4.0)]
    assert events_of(tmp_path).Scalars("number")[3].wall_time == 7.0
    assert scalars(tmp_path, "one") == [(0, 5.0)]
    assert scalars(tmp_path, "half") == [(1, 0.5)]


@pytest.mark.parametrize("double", [False, True])
def test_scalars_as_tensors(tmp_path, double):
    from tensorboard.util.tensor_util import make_ndarray

    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("third", 1 / 3, 1, new_style=True, double_precision=double)
    event = events_of(tmp_path).Tensors("third")[0]
    found = make_ndarray(event.tensor_proto).reshape(-1)
    assert found.dtype == ("float64" if double else "float32")
    assert (event.step, found[0]) == (1, found.dtype.type(1 / 3))


def test_domains_of_hyperparameters(tmp_path):
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    with SummaryWriter(tmp_path) as writer:
        rates = {"lr": [0.1, 0.2], "name": ["adam"], "warm": [True, False]}
        given = {"lr": 0.1, "name": "adam", "warm": True}
        writer.add_hparams(given, {"loss": 1.0}, rates, run_name="first")
        with pytest.raises(TypeError, match=r"hparam_domain_discrete\[lr\]"):
            writer.add_hparams(given, {"loss": 1.0}, {"lr": ["high"]})
    metadata = events_of(tmp_path / "first").SummaryMetadata("_hparams_/experiment")
    infos = HParamsPluginData.FromString(metadata.plugin_data.content).experiment.hparam_infos
    assert {info.name: list(info.domain_discrete) for info in infos} == rates


def test_records_of_hyperparameters():
    from rushlight.utils.tensorboard.summary import hparams

    records = hparams({"lr": 0.1}, {"loss": 1.0})
    assert [each.value[0].tag for each in records] == [
        "_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info"
    ]  # fmt: skip


def test_tensors_of_any_device(tmp_path, device):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", rushlight.tensor(2.5, device=device), 1)
        writer.add_histogram("weights", rushlight.ones(4, device=device), 1)
    assert scalars(tmp_path, "loss") == [(1, 2.5)]
    assert events_of(tmp_path).Histograms("weights")[0].histogram_value.num == 4


def test_add_scalars_are_runs_of_one_diagram(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(2):
            writer.add_scalars("a/loss", {"train": step, "test": step * 10}, step)
    assert scalars(tmp_path / "a_loss_train", "a/loss") == [(0, 0.0), (1, 1.0)]
    assert scalars(tmp_path / "a_loss_test", "a/loss") == [(0, 0.0), (1, 10.0)]


def test_histograms_images_and_texts(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("values", rushlight.arange(100.0), 3)
        writer.add_histogram("auto", [1, 2, 3], bins="auto")
        writer.add_image("image", rushlight.rand(3, 5, 6), 1)
        writer.add_image("rows", numpy.zeros((5, 6, 3), numpy.uint8), dataformats="HWC")
        writer.add_image("grey", rushlight.rand(5, 6), dataformats="HW")
        writer.add_images("batch", rushlight.rand(4, 3, 5, 6), 1)
        writer.add_images("list", [rushlight.rand(3, 5, 6)] * 2, dataformats="CHW")
        writer.add_text("note", "a *text*", 2)
        writer.add_pr_curve("curve", rushlight.tensor([0, 1, 1]), rushlight.rand(3), 0)
    events = events_of(tmp_path)
    histogram = events.Histograms("values")[0]
    assert histogram.step == 3
    assert histogram.histogram_value.num == 100
    assert histogram.histogram_value.sum == 4950
    sizes = {tag: events.Images(tag)[0] for tag in ("image", "rows", "grey", "batch", "list")}
    assert {tag: (image.width, image.height) for tag, image in sizes.items()} == {
        "image": (6, 5), "rows": (6, 5), "grey": (6, 5), "batch": (24, 5), "list": (12, 5),
    }  # fmt: skip
    assert events.Tensors("note/text_summary")[0].tensor_proto.string_val[0] == b"a *text*"
    assert "curve" in events.Tags()["tensors"]


def test_figure(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(2, 1), dpi=50)
    with SummaryWriter(tmp_path) as writer:
        writer.add_figure("figure", figure, 1)
    image = events_of(tmp_path).Images("figure")[0]
    assert (image.width, image.height) == (100, 50)
    assert not pyplot.get_fignums()


def test_embedding(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(
            rushlight.rand(4, 3), ["a", "b", "c", "d"], rushlight.rand(4, 3, 6, 6), 5, "points"
        )
    config = (tmp_path / "projector_config.pbtxt").read_text()
    assert "points" in config
    (points,) = tmp_path.glob("**/tensors.tsv")
    assert len(points.read_text().splitlines()) == 4


def test_hparams(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams(
            {"lr": 0.1, "name": "x", "bsize": 3, "flag": True},
            {"hparam/loss": rushlight.tensor(2.0)},
            run_name="first",
            global_step=4,
        )
        with pytest.raises(TypeError, match="should be dictionary"):
            writer.add_hparams([], {})
    assert scalars(tmp_path / "first", "hparam/loss") == [(4, 2.0)]
    assert "_hparams_/session_start_info" in events_of(tmp_path / "first").summary_metadata


def graph_of(folder):
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    graph = events_of(folder).Graph()
    assert isinstance(graph, GraphDef)
    return {node.name: node for node in graph.node}


def test_graph(tmp_path):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(4, 3)
            self.rest = nn.Sequential(nn.ReLU(), nn.Linear(3, 2))

        def forward(self, x):
            return self.rest(self.first(x)) * 2

    model = Model()
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, rushlight.rand(5, 4))
        with pytest.raises(TypeError, match="needs input_to_model"):
            writer.add_graph(model)
    assert model.training
    nodes = graph_of(tmp_path)
    assert next(iter(nodes["input/input0"].attr["_output_shapes"].list.shape[0].dim)).size == 5
    assert {"Model/first/weight", "Model/rest/1/bias"} <= set(nodes)
    assert "input/input0" in nodes["Model/first/Addmm"].input
    assert "Model/first/Addmm" in nodes["Model/rest/0/Relu"].input
    assert "Model/rest/1/Addmm" in nodes["Model/Mul"].input
    assert list(nodes["output/output0"].input) == ["Model/Mul"]
    known = set(nodes)
    assert all(name in known for node in nodes.values() for name in node.input)


def test_graph_without_gradients(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(nn.Sequential(nn.ReLU(), nn.Flatten()), (rushlight.rand(5, 4),))
    names = list(graph_of(tmp_path))
    assert names == [
        "input/input0", "Sequential/0/ReLU", "Sequential/1/Flatten", "output/output0",
    ]  # fmt: skip


def test_default_folder_and_life(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    writer = SummaryWriter(comment="_lr")
    assert os.path.dirname(writer.get_logdir()) == "runs"
    assert writer.log_dir.endswith("_lr")
    writer.add_scalar("a", 1, 1)
    writer.flush()
    assert scalars(writer.log_dir, "a") == [(1, 1.0)]
    writer.close()
    writer.close()
    writer.add_scalar("a", 2, 2)  # a new file, which must not overwrite the first
    writer.close()
    assert scalars(writer.log_dir, "a") == [(1, 1.0), (2, 2.0)]
    with pytest.raises(AttributeError, match=r"SummaryWriter\.add_onnx_graph is not in rushlight"):
        writer.add_onnx_graph("a")


def run(program):
    where = str(pathlib.Path(rushlight.__file__).parent.parent)
    paths = [where, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_torch_is_not_imported(tmp_path):
    if rushlight.__name__ == "torch":
        pytest.skip("torch stands in for rushlight")
    loaded = run(f"""
import json, sys
from rushlight.utils.tensorboard import SummaryWriter
with SummaryWriter({str(tmp_path)!r}) as writer:
    writer.add_scalar("a", 1)
    writer.add_image("b", [[[0.5]]])
print(json.dumps([name for name in sys.modules if name.split(".")[0] == "torch"]))
""")
    assert loaded == []


def test_missing_package_names_the_extra(tmp_path):
    text = run(f"""
import json, sys
sys.modules["tensorboardX"] = None
from rushlight.utils.tensorboard import SummaryWriter
try:
    SummaryWriter({str(tmp_path)!r})
except ModuleNotFoundError as error:
    print(json.dumps(str(error)))
""")
    assert "pip install 'rushlight[tensorboard]'" in text


def test_sound_and_points_in_space(tmp_path, capsys):
    with SummaryWriter(tmp_path) as writer:
        writer.add_audio("tone", rushlight.tensor([[0.0, 1.0, -2.0]]), 1, sample_rate=8000)
        writer.add_mesh("points", rushlight.zeros(1, 4, 3), faces=rushlight.tensor([[[0, 1, 2]]]))
        writer.add_custom_scalars_multilinechart(["a", "b"])
        writer.add_custom_scalars_marginchart(["a", "b", "c"])
        writer.add_video("film", rushlight.rand(1, 2, 3, 4, 4))
        with pytest.raises(AssertionError, match="Expected 3 tags, got 1"):
            writer.add_custom_scalars_marginchart(["a"])
        with pytest.raises(AssertionError, match="should be 1 dimensional"):
            writer.add_audio("tone", rushlight.zeros(2, 3))
    assert "moviepy" in capsys.readouterr().out
    events = events_of(tmp_path)
    tone = events.Audio("tone")[0]
    assert tone.step == 1 and tone.sample_rate == 8000
    assert tone.encoded_audio_string[-6:] == b"\x00\x00\xff\x7f\x01\x80"
    assert "custom_scalars__config__" in events.Tags()["tensors"]
    assert sum(name.startswith("points") for name in events.Tags()["tensors"]) == 2
