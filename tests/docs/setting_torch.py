"""What the Python blocks of the documents take for granted: a small model, its data, a configuration."""
import json

import torch

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1), torch.nn.Flatten(0))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [torch.rand(3, 4) for _ in range(2)]
batch = data[0]


def train_step(batch):
    optimizer.zero_grad()
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
    return loss


model_call = model.forward
model.forward = lambda batch: model_call(batch).sum()
with open("config.json", "w", encoding="utf-8") as file:
    json.dump({"task": "statistics", "dump_path": "recorded", "rank": [], "step": [], "level": "mix"}, file)
