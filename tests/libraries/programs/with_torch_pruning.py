"""Pruning of channels along the dependencies of a graph."""

import torch
import torch_pruning

torch.manual_seed(0)
nn = torch.nn
net = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, padding=1),
    nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4),
)  # fmt: skip
x = torch.rand(1, 3, 8, 8)
print("before", torch_pruning.utils.count_ops_and_params(net, x))
importance = torch_pruning.importance.MagnitudeImportance(p=2)
pruner = torch_pruning.pruner.MagnitudePruner(
    net, x, importance=importance, pruning_ratio=0.5, ignored_layers=[net[8]]
)
pruner.step()
print("after", torch_pruning.utils.count_ops_and_params(net, x))
print(net)
print("result", net(x).tolist())
graph = torch_pruning.DependencyGraph().build_dependency(net, example_inputs=x)
group = graph.get_pruning_group(net[0], torch_pruning.prune_conv_out_channels, idxs=[0])
group.prune()
print("by hand", [tuple(p.shape) for p in net.parameters()], net(x).tolist())
