"""Collects two ranks of data-parallel training with gloo: python examples/pytorch/ddp.py DIR"""

import os
import socket
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from msprobe.pytorch import PrecisionDebugger, seed_all


def train(rank, directory, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    seed_all(1234)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    debugger = PrecisionDebugger(dump_path=directory, level="mix")
    losses = []
    for step in range(2):
        torch.manual_seed(2 * step + rank)
        with debugger.collect(model):
            loss = model(torch.randn(8, 16)).pow(2).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach().clone())
            dist.all_reduce(losses[-1])
    # A thread of gloo that still holds a tensor when the interpreter ends would abort the process.
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        free_port = free.getsockname()[1]
    target = sys.argv[1] if len(sys.argv) > 1 else "ddp_dump"
    torch.multiprocessing.spawn(train, args=(target, free_port), nprocs=2)
