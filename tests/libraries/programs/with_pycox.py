"""Survival analysis by small networks."""

import numpy as np
import torch
import torchtuples
from pycox.models import CoxPH, DeepHitSingle, LogisticHazard

np.random.seed(0)
torch.manual_seed(0)
x = np.random.randn(100, 4).astype("float32")
times = np.random.exponential(1, 100).astype("float32")
events = (np.random.rand(100) < 0.7).astype("float32")
net = torchtuples.practical.MLPVanilla(4, [8], 1, True, 0.1)
model = CoxPH(net, torchtuples.optim.Adam(0.01))
log = model.fit(x, (times, events), 50, 3, verbose=False)
model.compute_baseline_hazards()
print("cox", log.to_pandas().values.tolist())
print("survival", model.predict_surv_df(x[:3]).iloc[::20].values.tolist())
for kind in (LogisticHazard, DeepHitSingle):
    torch.manual_seed(0)
    labels = kind.label_transform(6)
    y = labels.fit_transform(times, events)
    net = torchtuples.practical.MLPVanilla(4, [8], labels.out_features, True, 0.1)
    model = kind(net, torchtuples.optim.Adam(0.01), duration_index=labels.cuts)
    log = model.fit(x, y, 50, 2, verbose=False)
    print(kind.__name__, log.to_pandas().values.tolist(), model.predict_surv(x[:2]).tolist())
