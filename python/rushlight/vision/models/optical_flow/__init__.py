"""torchvision.models.optical_flow: networks that say where each pixel of an image has moved to.

>>> network = torch.vision.models.optical_flow.raft_small().eval()
>>> [flow] = network(*torch.zeros(2, 1, 3, 128, 128), num_flow_updates=1)
>>> flow.shape
torch.Size([1, 2, 128, 128])
"""

from .raft import *  # noqa: F403
