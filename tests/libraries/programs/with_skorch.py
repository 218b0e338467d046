"""A classifier as scikit-learn has them: fit, predict, a grid search, save and load."""

import tempfile

import numpy
import torch
from sklearn.model_selection import GridSearchCV
from skorch import NeuralNetClassifier

torch.manual_seed(0)
rng = numpy.random.default_rng(0)
x = rng.normal(size=(60, 4)).astype("float32")
y = (x.sum(1) > 0).astype("int64")


class Net(torch.nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, 2)
        )

    def forward(self, x):
        return self.layers(x).softmax(-1)


net = NeuralNetClassifier(Net, max_epochs=5, lr=0.1, verbose=0, iterator_train__shuffle=False)
net.fit(x, y)
print("losses", [h["train_loss"] for h in net.history], [h["valid_loss"] for h in net.history])
print("predicted", net.predict(x[:10]).tolist(), net.predict_proba(x[:2]).tolist(), net.score(x, y))
with tempfile.TemporaryDirectory() as folder:
    net.save_params(f_params=f"{folder}/p.pt", f_optimizer=f"{folder}/o.pt")
    again = NeuralNetClassifier(Net).initialize()
    again.load_params(f_params=f"{folder}/p.pt")
print("again", again.predict_proba(x[:1]).tolist())
torch.manual_seed(0)
search = GridSearchCV(net, {"module__width": [2, 8]}, cv=2, refit=False, scoring="accuracy")
print("search", search.fit(x, y).cv_results_["mean_test_score"].tolist())
