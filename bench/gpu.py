#!/usr/bin/env python3
"""Training on a GPU, in steps per second, with warm kernels: starts of one shape side by side, and peers on the same GPU.

    bench/gpu.py [--remede build/cuda/remede] [--seconds 5] [--peer-seconds 1] [--no-peers]

Needs a program built with CUDA (the preset cuda) and a GPU. The peers are the dense form in JAX, one tree at its best batch size, and LSTM and
GRU networks in PyTorch (cuDNN), two layers of 32 and 16 units; one that is not installed is left out, and said so. The dense form comes in
two kinds (bench/peers/dense_jax.py): by paths, as the paper writes it, and by levels, the strongest dense form we know.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

SIGNAL = ["--depth", "2", "--length", "200", "--inputs", "15", "--memory", "16", "--form", "richest", "--batch", "16"]
# name, options of `remede benchmark train`
ROWS = [(f"paper's form, depth {d}, 528 starts, batch 512", ["--depth", str(d), "--starts", "528", "--batch", "512"]) for d in (4, 6, 8, 10)]
ROWS += [("paper's form, depth 6, 64 starts, batch 64", ["--depth", "6", "--starts", "64", "--batch", "64"]),
         ("paper's form, depth 6, 32 starts, batch 32", ["--depth", "6", "--starts", "32", "--batch", "32"]),
         ("blend with bias, depth 6, 132 starts, batch 32", ["--depth", "6", "--starts", "132", "--batch", "32", "--form", "blend-bias"])]
ROWS += [(f"signal, depth 2, {n} starts", [*SIGNAL, "--starts", str(n)]) for n in (64, 264)]
PEER_BATCHES = (512, 4096, 32768)


def ours(args, options):
    command = [args.remede, "benchmark", "train", "--device", "gpu", "--seconds", str(args.seconds), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench/gpu.py: {done.stderr.strip()}")
    return json.loads(done.stdout)


def rate(training, wait, seconds):
    """Steps per second of training.run(); wait() returns when the GPU is done."""
    for _ in range(3):
        training.run()
    wait()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        for _ in range(10):
            training.run()
        wait()
        count += 10
    return count * training.steps / (time.perf_counter() - began)


def dense_rows(args):
    import jax
    from peers import dense_jax, tables
    if jax.default_backend() != "gpu":
        raise ImportError("JAX sees no GPU")
    for form in ("paths", "levels"):
        for depth in (4, 6, 8, 10):
            best = max((rate(dense_jax.Training(depth, 1, batch, tables.DEFAULT, form), lambda: None, args.peer_seconds), batch)
                       for batch in PEER_BATCHES if batch << depth <= 1 << 23)
            yield f"dense JAX by {form}, depth {depth}, batch {best[1]}", best[0]


def network_rows(args):
    import torch
    from peers import torch_peers
    if not torch.cuda.is_available():
        raise ImportError("PyTorch sees no GPU")
    for kind in ("LSTM", "GRU"):
        rates = []
        for batch in PEER_BATCHES:
            training = torch_peers.recurrent(kind, 1, batch)
            training.model.cuda()
            training.x, training.label = training.x.cuda(), training.label.cuda()
            rates.append((rate(training, torch.cuda.synchronize, args.peer_seconds), batch))
        best = max(rates)
        yield f"cuDNN {kind}, batch {best[1]}", best[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--remede", default=str(ROOT / "build/cuda/remede"))
    parser.add_argument("--seconds", type=float, default=5.0, help="of every measurement")
    parser.add_argument("--peer-seconds", type=float, default=1.0, help="of every measurement of a peer")
    parser.add_argument("--no-peers", action="store_true")
    args = parser.parse_args()
    print("| what | million steps per second | an update, us |\n|---|---|---|", flush=True)
    for name, options in ROWS:
        result = ours(args, options)
        print(f"| {name} | {result['steps_per_second'] / 1e6:,.0f} | {result['update_microseconds']:,.0f} |", flush=True)
    for rows in () if args.no_peers else (dense_rows, network_rows):
        try:
            for name, steps in rows(args):
                print(f"| {name} | {steps / 1e6:,.1f} | |", flush=True)
        except ImportError as error:
            print(f"left out: {error}", flush=True)


if __name__ == "__main__":
    main()
