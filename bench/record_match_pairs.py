#!/usr/bin/env python3
"""Records the model pairs of match_models.py with the collector, and what is the same on both sides.

usage: record_match_pairs.py OUT [NAME...]
OUT/<name>.tar.xz holds target/, golden/ and truth.json: {"pairs": [[target node, golden node]…],
"groups": [[[target nodes], [golden nodes]]…]}. Nodes in neither list have no partner at all.
"""

import io
import json
import logging
import pathlib
import re
import sys
import tarfile
import tempfile

import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

import match_models as m
import match_models_encoder as e
from msprobe.pytorch import PrecisionDebugger

MARK = re.compile(r"#= (\w+)")
HERE = "match_models"


def copy_weights(source: nn.Module, sink: nn.Module) -> None:
    """Gives `sink` the weights of `source`, fused or split where the labels say so."""
    def weights_of(module, name):
        weights = getattr(module, name).data
        return weights.T if isinstance(module, m.Conv1D) and weights.dim() == 2 else weights

    known = {}
    for module in source.modules():
        for name, _ in module.named_parameters(recurse=False):
            known[getattr(module, "label", None), name] = weights_of(module, name)
    for module in sink.modules():
        label = getattr(module, "label", None)
        for name, parameter in module.named_parameters(recurse=False):
            whole = known.get((label, name))
            pieces = [known.get((part, name)) for part in str(label).split("+")]
            if whole is None and all(piece is not None for piece in pieces):
                whole = torch.cat(pieces)
            for (other, other_name), weights in known.items():
                parts = str(other).split("+")
                if whole is None and other_name == name and label in parts:
                    sizes = [rows_of(sink, part) for part in parts]
                    whole = weights.split(sizes)[parts.index(label)]
            if whole is not None:
                parameter.data.copy_(whole)


def rows_of(model: nn.Module, label: str) -> int:
    return next(module.weight.shape[0] for module in model.modules() if getattr(module, "label", None) == label)


def run_step(model: nn.Module, directory: pathlib.Path, ids: torch.Tensor, warm_up) -> pathlib.Path:
    debugger = PrecisionDebugger(dump_path=str(directory), level="mix", task="statistics", step=[0])
    with debugger.collect(model):
        if warm_up is not None:
            warm_up(model)
        logits = model(ids)
        nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
    PrecisionDebugger._instance = None
    found = sorted(directory.rglob("dump.json"))
    assert len(found) == 1, found
    return found[0].parent


def identities(directory: pathlib.Path, model: nn.Module, from_end: bool) -> dict:
    """{(label, mark, direction, occurrence): node} of everything that has a counterpart by name."""
    labels = {path: vars(module)["label"] for path, module in model.named_modules() if "label" in vars(module)}
    parents = {child: value[0] if isinstance(value, list) else value
               for child, value in json.loads((directory / "construct.json").read_text()).items()
               if child != "megatron_micro_step_number"}
    stacks = {}
    for names, frames in json.loads((directory / "stack.json").read_text()).values():
        stacks.update(dict.fromkeys(names, frames))

    def module_label(node):
        path = re.match(r"Module\.(.*)\.\w+\.(?:forward|backward|parameters_grad)", node)
        return labels.get(path.group(1)) if path else None

    def key(node):
        direction = re.search(r"\.(forward|backward|parameters_grad)\b", node)
        if direction is None:
            return None
        if node.startswith("Module."):
            label = module_label(node)
            return (label, "", direction.group(1)) if label else None
        parent = parents.get(node)
        inside_leaf = parent is not None and module_label(parent) is not None
        while parent is not None and module_label(parent) is None:
            parent = parents.get(parent)
        frames = stacks.get(node.replace(".backward", ".forward"), [])
        own = next((index for index, frame in enumerate(frames) if HERE in frame.split(", line")[0]), None)
        if parent is None or own is None:
            return None
        mark = MARK.search(frames[own])
        name = node.split(".")[1].strip("_")
        simple = {"linear", "embedding", "layer_norm"}
        if not mark and not (inside_leaf and name in simple):
            return None
        name = "matmul" if name == "bmm" else name
        return module_label(parent), f"{mark.group(1) if mark else ''}:{name}", direction.group(1)

    found, counts = {}, {}
    nodes = list(json.loads((directory / "dump.json").read_text())["data"])
    # From the end where calls in front of the step have no counterpart.
    for node in reversed(nodes) if from_end else nodes:
        identity = key(node)
        if identity is not None:
            counts[identity] = counts.get(identity, -1) + 1
            found[(*identity, counts[identity])] = node
    return found


def truth_of(target: dict, golden: dict) -> dict:
    pairs, groups = [], []
    for identity, node in target.items():
        if identity in golden:
            pairs.append([node, golden[identity]])
    for one, other, swap in ((target, golden, False), (golden, target, True)):
        for (label, mark, direction, call), node in one.items():
            parts = [other.get((part, mark, direction, call)) for part in label.split("+")]
            if "+" in label and not mark and all(parts):
                groups.append([parts, [node]] if swap else [[node], parts])
    return {"pairs": pairs, "groups": groups}


def wrapped(model):
    """As training frameworks wrap: parallel, low precision, compiled; layers under checkpoints."""
    parallel = type("DistributedDataParallel", (m.Float16Module,), {})
    compiled = type("OptimizedModule", (nn.Module,), {
        "__init__": lambda self, module: (nn.Module.__init__(self), setattr(self, "_orig_mod", module))[0],
        "forward": lambda self, ids: self._orig_mod(ids)})
    return parallel(m.Float16Module(compiled(model)))


def embed_twice(model):
    """Calls that the other side does not make: all later call numbers are off by some."""
    with torch.no_grad():
        model.model.embed_tokens(torch.zeros(1, 3, dtype=torch.long))
        model.lm_head(torch.zeros(1, 3, m.WIDTH))


def sharded(layer):
    whole = type("FullyShardedDataParallel", (nn.Module,), {
        "__init__": lambda self, module: (nn.Module.__init__(self), setattr(self, "_fsdp_wrapped_module", module))[0],
        "forward": lambda self, *args: self._fsdp_wrapped_module(*args)})
    return whole(layer)


# name: (target, golden, copy the weights, calls before the step)
VARIANTS = {
    "llama": lambda: (m.LlamaForCausalLM(), m.GPTModel(), True, None),
    "llama_other_weights": lambda: (m.LlamaForCausalLM(), m.GPTModel(), False, None),
    "llama_four_layers": lambda: (m.LlamaForCausalLM(4), m.GPTModel(4), True, None),
    "llama_wrapped": lambda: (wrapped(m.LlamaForCausalLM()),
                              m.Float16Module(m.GPTModel(wrap=checkpoint_wrapper)), True, None),
    "llama_sharded": lambda: (m.GPTModel(wrap=sharded), m.LlamaForCausalLM(), True, None),
    "llama_extra_dropout": lambda: (m.LlamaForCausalLM(2, dropout=1e-9), m.GPTModel(), True, None),
    "llama_offset_calls": lambda: (m.LlamaForCausalLM(), m.GPTModel(), True, embed_twice),
    "gpt2": lambda: (m.GPT2LMHeadModel(), m.GPTModel(
        norm=nn.LayerNorm, rotary=False, gated=False, bias=True, kv_heads=m.HEADS), True, None),
    "gpt2_other_weights": lambda: (m.GPT2LMHeadModel(3), m.GPTModel(
        3, norm=nn.LayerNorm, rotary=False, gated=False, bias=True, kv_heads=m.HEADS), False, None),
    "llama_fewer_layers": lambda: (m.LlamaForCausalLM(3), m.GPTModel(4), True, None),
    "llama_fewer_layers_other_weights": lambda: (m.LlamaForCausalLM(3), m.GPTModel(4), False, None),
    "encoder": lambda: (e.BertModel(), e.EncoderModel(), True, None),
    "encoder_other_weights": lambda: (e.EncoderModel(4), e.BertModel(4), False, None),
    "experts": lambda: (e.MoeModel(), e.MegatronMoeModel(), True, None),
    "experts_other_weights": lambda: (e.MoeModel(), e.MegatronMoeModel(), False, None),
    "same_stack": lambda: (m.GPTModel(3), wrapped(m.GPTModel(3)), True, None),
}


# Not two ways of writing one model: nothing but wrong pairs is counted.
VARIANTS_UNRELATED = {
    "gpt2_against_llama": lambda: (m.GPT2LMHeadModel(), m.LlamaForCausalLM(3), False, None),
}


def record(name: str, out: pathlib.Path) -> None:
    torch.manual_seed(7)
    target, golden, copied, warm_up = {**VARIANTS, **VARIANTS_UNRELATED}[name]()
    if copied:
        copy_weights(target, golden)
    ids = torch.randint(0, m.WORDS, (2, m.LENGTH))
    with tempfile.TemporaryDirectory() as scratch:
        sides = {}
        for side, model in (("target", target), ("golden", golden)):
            unit = run_step(model, pathlib.Path(scratch) / side, ids, warm_up if side == "target" else None)
            sides[side] = (unit, identities(unit, model, warm_up is not None))
        truth = truth_of(sides["target"][1], sides["golden"][1])
        with tarfile.open(out / f"{name}.tar.xz", "w:xz", preset=9) as archive:
            for side, (unit, _) in sides.items():
                for file in ("dump.json", "stack.json", "construct.json"):
                    text = (unit / file).read_text().replace(scratch + "/", "")
                    text = text.replace(str(pathlib.Path(m.__file__).parent) + "/", "")
                    text = re.sub(r"/\S*?site-packages/", "site-packages/", text)
                    add(archive, f"{side}/{file}", text)
            add(archive, "truth.json", json.dumps(truth))
    print(f"{name}: {len(truth['pairs'])} pairs, {len(truth['groups'])} groups")


def add(archive: tarfile.TarFile, name: str, text: str) -> None:
    data = text.encode()
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def main() -> None:
    logging.disable(logging.WARNING)
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or [*VARIANTS, *VARIANTS_UNRELATED]:
        record(name, out)


if __name__ == "__main__":
    main()
