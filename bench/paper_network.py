"""Recurrent networks on the paper's tasks, in PyTorch: the peer of bench/paper.py, and the LSTM of `remede reproduce`, which carries this file
and runs it as

    python3 paper_network.py DATA.json ANSWERS.json

DATA: {"training": {"x": (sequences, steps, inputs), "y": (sequences, steps)}, "validation": ..., "test": ..., "classes", "seed", "threads"}, where y are
numbers of classes. ANSWERS: the class of every test step, {"answers": (sequences, steps)}.
"""
import json
import sys

import numpy as np
import torch

PATIENCE = 15  # epochs without a lower validation loss
BATCH = 32  # sequences
SETTINGS = {"rate": 0.005, "dropout": 0.1}  # of `remede reproduce`, which tunes nothing
EPOCHS = 60  # at most, there


class Network(torch.nn.Module):
    """Recurrent layers one upon the other with dropout, and a linear head. kind: LSTM or RNN."""

    def __init__(self, kind, units, inputs, classes, dropout):
        super().__init__()
        sizes = (inputs, *units)
        self.layers = torch.nn.ModuleList(getattr(torch.nn, kind)(a, b, batch_first=True) for a, b in zip(sizes, units))
        self.dropout = torch.nn.Dropout(dropout)
        self.head = torch.nn.Linear(units[-1], classes)

    def forward(self, x):
        for layer in self.layers:
            x = self.dropout(layer(x)[0])
        return self.head(x)


def train(network, training, validation, rate, epochs, report=lambda loss: None):
    """Trains on (x, y), tensors on the network's device, and keeps the state with the lowest validation loss. Returns that loss; report(loss) after every epoch."""
    (x, y), (x_held, y_held) = training, validation
    optimiser = torch.optim.Adam(network.parameters(), rate)
    loss_of = lambda a, b: torch.nn.functional.cross_entropy(network(a).flatten(0, 1), b.flatten())
    best, since, kept = np.inf, 0, None
    for _ in range(epochs):
        network.train()
        for batch in torch.randperm(len(x)).to(x.device).split(BATCH):
            optimiser.zero_grad()
            loss_of(x[batch], y[batch]).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
        network.eval()
        with torch.no_grad():
            loss = float(loss_of(x_held, y_held))
        since += 1
        if loss < best:
            best, since, kept = loss, 0, {k: v.clone() for k, v in network.state_dict().items()}
        report(best)
        if since >= PATIENCE:
            break
    network.load_state_dict(kept)
    return best


def main():
    with open(sys.argv[1]) as file:
        data = json.load(file)
    torch.manual_seed(data["seed"])
    if data["threads"] > 0:
        torch.set_num_threads(data["threads"])
    part = lambda name: (torch.tensor(data[name]["x"], dtype=torch.float32), torch.tensor(data[name]["y"], dtype=torch.int64))
    x, y = part("training")
    network = Network("LSTM", (32, 16), x.shape[2], data["classes"], SETTINGS["dropout"])
    train(network, (x, y), part("validation"), SETTINGS["rate"], EPOCHS)
    with torch.no_grad():
        answers = network(part("test")[0]).argmax(2).tolist()
    with open(sys.argv[2], "w") as file:
        json.dump({"answers": answers}, file)


if __name__ == "__main__":
    main()
