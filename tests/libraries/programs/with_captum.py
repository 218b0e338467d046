"""Attributions of a small network: gradients, layers, neurons, perturbations, Shapley values."""

import torch
from captum import attr

torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
    torch.nn.Linear(36, 3),
).eval()  # fmt: skip
x, base = torch.rand(2, 1, 8, 8), torch.zeros(2, 1, 8, 8)
goal = torch.tensor([0, 2])
made, delta = attr.IntegratedGradients(net).attribute(
    x, base, goal, n_steps=20, return_convergence_delta=True
)
print("integrated", made.sum((1, 2, 3)).tolist(), delta.abs().max().item() < 0.05)
for kind in (attr.Saliency, attr.InputXGradient, attr.Deconvolution, attr.GuidedBackprop):
    print(kind.__name__, kind(net).attribute(x, target=goal).flatten(1).norm(dim=1).tolist())
for kind in (attr.DeepLift, attr.GuidedGradCam, attr.FeatureAblation):
    method = kind(net, net[0]) if kind is attr.GuidedGradCam else kind(net)
    print(kind.__name__, method.attribute(x, target=goal).flatten(1).sum(1).tolist())
print("shap", attr.DeepLiftShap(net).attribute(x, base, target=goal).sum((1, 2, 3)).tolist())
occlusion = attr.Occlusion(net).attribute(x, (1, 4, 4), strides=2, target=goal)
print("occlusion", occlusion.sum((1, 2, 3)).tolist())
for kind in (attr.LayerGradCam, attr.LayerActivation, attr.LayerGradientXActivation):
    options = {} if kind is attr.LayerActivation else {"target": goal}
    print(kind.__name__, kind(net, net[0]).attribute(x, **options).sum((1, 2, 3)).tolist())
layer = attr.LayerConductance(net, net[0]).attribute(x, base, target=goal, n_steps=10)
print("conductance", layer.sum((1, 2, 3)).tolist())
neuron = attr.NeuronGradient(net, net[0]).attribute(x, (1, 2, 2))
print("neuron", neuron.sum((1, 2, 3)).tolist())
torch.manual_seed(0)
smooth = attr.NoiseTunnel(attr.Saliency(net))
made = smooth.attribute(x, nt_type="smoothgrad", nt_samples=4, stdevs=0.1, target=goal)
print("smooth", made.sum((1, 2, 3)).tolist())
small = torch.nn.Linear(4, 2)
print("shapley", attr.ShapleyValues(small).attribute(x[:, 0, 0, :4], target=1).tolist())
linear = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
print("lrp", attr.LRP(linear).attribute(x[:, 0, 0, :4], target=1).tolist())
print("lime", attr.KernelShap(small).attribute(x[:1, 0, 0, :4], target=1, n_samples=200).tolist())
