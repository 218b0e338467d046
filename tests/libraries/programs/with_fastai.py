"""A table and images learned by Learner: one cycle, metrics, predictions, save and load."""

import tempfile
import warnings

import numpy
import pandas
import torch
from fastai.callback.hook import model_sizes
from fastai.layers import ConvLayer, MishJit, SimpleSelfAttention
from fastai.tabular.all import (
    Categorify,
    CategoryBlock,
    DataLoaders,
    FillMissing,
    LabelSmoothingCrossEntropy,
    Learner,
    Normalize,
    TabularDataLoaders,
    TfmdDL,
    accuracy,
    load_learner,
    set_seed,
    tabular_learner,
)  # fmt: skip

warnings.simplefilter("ignore")
set_seed(0, reproducible=True)
random = numpy.random.RandomState(0)
frame = pandas.DataFrame({"x": random.randn(96), "z": random.randn(96)})
frame["kind"] = random.choice(["a", "b", "c"], 96)
frame.loc[3, "z"] = None
frame["y"] = ((frame.x + frame.z.fillna(0) + (frame.kind == "a")) > 0).map(
    {True: "up", False: "down"}
)
with tempfile.TemporaryDirectory() as folder:
    data = TabularDataLoaders.from_df(
        frame, folder, [Categorify, FillMissing, Normalize], ["kind"], ["x", "z"], "y",
        y_block=CategoryBlock(), valid_idx=list(range(64, 96)), bs=16, num_workers=0,
    )  # fmt: skip
    learner = tabular_learner(data, layers=[16, 8], metrics=accuracy, path=folder)
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(3, 1e-2)
        print("losses", learner.recorder.values)
        print("validated", learner.validate())
        predictions, targets = learner.get_preds()
        print("predictions", predictions[:3].tolist(), targets[:5].tolist())
        learner.save("model")
        learner.load("model")
        row, index, chances = learner.predict(frame.iloc[0])
        print("one row", int(index), chances.tolist())
        found = learner.lr_find(num_it=8, show_plot=False)
        print("rate", found.valley)
    learner.export(f"{folder}/export.pkl")
    again = load_learner(f"{folder}/export.pkl")
    print("again", again.model(*next(iter(data.valid))[:2])[0].tolist())
images, labels = torch.rand(32, 3, 16, 16), torch.arange(32) % 4
items = list(zip(images, labels, strict=True))
loaders = DataLoaders(TfmdDL(items, 8, num_workers=0), TfmdDL(items, 8, num_workers=0))
net = torch.nn.Sequential(
    ConvLayer(3, 8, stride=2), SimpleSelfAttention(8), ConvLayer(8, 8, act_cls=MishJit),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 4),
)  # fmt: skip
learner = Learner(loaders, net, loss_func=LabelSmoothingCrossEntropy(), metrics=accuracy)
with learner.no_bar(), learner.no_logging():
    learner.fit_flat_cos(2, 1e-2)
print("images", learner.recorder.values, model_sizes(net, (16, 16)))
