# .to takes a device, a dtype, both, or another tensor; map_location moves a checkpoint.
import os
import tempfile

import torch

x = torch.randn(2, 2)
print(x.to("cuda:0").device, x.to(torch.float64).dtype, x.to("cuda:1", torch.float64).dtype)
with torch.cuda.device(1):
    print("inside `with torch.cuda.device(1)`:", x.cuda().device)
net = torch.nn.Linear(2, 2).to("cuda:1")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net.pt")
    torch.save(net.state_dict(), path)
    for place in (None, "cpu", "cuda:0"):
        state = torch.load(path, map_location=place)
        print(f"loaded with map_location={place!r}: on {state['weight'].device}")
