"""A model's table."""

import torch
from torchinfo import summary

model = torch.nn.Sequential(
    torch.nn.Conv2d(1, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
    torch.nn.Linear(8 * 26 * 26, 10),
)  # fmt: skip
table = summary(model, input_size=(2, 1, 28, 28), verbose=0)
print(table)
print(table.total_params, table.trainable_params, table.total_mult_adds)
lstm = summary(torch.nn.LSTM(4, 8, 2, batch_first=True), input_size=(2, 5, 4), verbose=0)
print(lstm)
