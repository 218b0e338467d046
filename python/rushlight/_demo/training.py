# Made-up pictures: stripes that run down (class 0), across (1) or not at all (2), under noise.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
count, side = 384, 16
labels = torch.arange(count) % 3
wave = torch.sin(torch.arange(side) * 1.5)
patterns = torch.stack(
    [wave.expand(side, side), wave.expand(side, side).t(), torch.zeros(side, side)]
)
pictures = patterns[labels].unsqueeze(1) + 0.8 * torch.randn(count, 1, side, side)
loader = DataLoader(TensorDataset(pictures, labels), batch_size=32, shuffle=True)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(
    nn.Conv2d(1, 8, 5, padding=2),
    nn.ReLU(),
    nn.MaxPool2d(4),
    nn.Flatten(),
    nn.Linear(8 * 4 * 4, 3),
).to(device)
loss_fn = nn.CrossEntropyLoss().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(5):
    total = correct = 0
    for images, targets in loader:
        images, targets = images.to(device), targets.to(device)
        outputs = model(images)
        loss = loss_fn(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(images)
        correct += (outputs.argmax(1) == targets).sum().item()
    print(f"epoch {epoch + 1}: loss {total / count:.3f}, right {100 * correct / count:.0f} %")
print("trained on", next(model.parameters()).device)
