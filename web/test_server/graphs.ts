/** The comparisons that the test server offers: a transformer, and shapes that are hard to show. */

import type { EmbeddedData, EmbeddedUnit } from "../src/api/types";
import { dataOf, GraphMaker, type NodeSpec, type Pair, unitOf } from "./graph_maker";

const ROOT: Pair = { t: 0, g: 0 };
const HIDDEN = "[2, 512, 1024]";
const HEADS = "[2, 8, 512, 512]";

/** A small generator of repeatable numbers in [0, 1). */
function numbers(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) / 0x1000000;
  };
}

type Extra = Partial<NodeSpec>;

class TransformerMaker {
  private readonly maker: GraphMaker;
  private readonly random: () => number;
  private readonly calls = new Map<string, number>();

  constructor(
    private readonly layers: number,
    /** The layer whose softmax goes wrong; none: all is well. */
    private readonly faulty: number | null,
    seed: number,
    single: boolean,
  ) {
    this.maker = new GraphMaker(single);
    this.random = numbers(seed);
  }

  private module(parent: Pair, path: string, cls: string, index: number, more: Extra): Pair {
    const call = more.micro ?? 0;
    const last = /[^.]+(?:\.\d+)?$/.exec(path)?.[0] ?? path;
    const label = call === 0 ? last : `${last} #${call}`;
    const name = `Module.${path}.${cls}.forward.${call}`;
    const shape = HIDDEN;
    return this.maker.add(parent, { name, label, cls, kind: "module", shape, index, ...more });
  }

  private call(parent: Pair, api: string, index: number, more = {}): Pair {
    const call = this.calls.get(api) ?? 0;
    this.calls.set(api, call + 1);
    const label = `${api}.${call}`;
    return this.maker.add(parent, { name: `${api}.${call}.forward`, label, index, ...more });
  }

  private small(): number {
    return this.random() * 0.06;
  }

  /** How bad things are in and behind the faulty layer. */
  private after(layer: number): number {
    if (this.faulty === null || layer < this.faulty) return this.small();
    return Math.max(0.22, 0.78 - (layer - this.faulty) * 0.16 + this.small());
  }

  private layer(parent: Pair, at: number, micro: number): void {
    const bad = at === this.faulty;
    const later = this.faulty !== null && at > this.faulty;
    const victim = later ? { role: "victim" as const, micro } : { micro };
    const drift = this.after(at);
    const path = `decoder.layers.${at}`;
    const layer = this.module(parent, path, "TransformerLayer", bad ? 0.93 : drift, victim);
    this.module(layer, `${path}.ln1`, "LayerNorm", later ? drift : this.small(), victim);
    const attn = this.module(layer, `${path}.attn`, "SelfAttention", bad ? 0.91 : drift, victim);
    this.module(attn, `${path}.attn.qkv`, "Linear", later ? drift : this.small(), victim);
    this.call(attn, "Torch.matmul", later ? drift : this.small(), { shape: HEADS, ...victim });
    if (bad) {
      const reason = "no such name";
      this.call(attn, "Tensor.mul_", 0, { shape: HEADS, only: "t", reason, micro });
    }
    const culprit = {
      role: "culprit",
      overflow: "high",
      reason: "its inputs agree, its outputs do not",
      frame: "File /train/attention.py, line 84, in forward, \n w = F.softmax(scores, dim=-1)",
    };
    this.call(attn, "Functional.softmax", bad ? 1 : later ? drift : this.small(), {
      shape: HEADS,
      ...victim,
      ...(bad ? culprit : {}),
    });
    const hurt = bad ? { role: "victim" as const, micro } : victim;
    this.call(attn, "Torch.matmul", bad ? 0.96 : drift, { shape: "[2, 8, 512, 128]", ...hurt });
    this.module(attn, `${path}.attn.proj`, "Linear", bad ? 0.84 : drift, hurt);
    this.module(layer, `${path}.ln2`, "LayerNorm", bad ? 0.45 : drift, hurt);
    const mlp = this.module(layer, `${path}.mlp`, "MLP", bad ? 0.31 : drift, hurt);
    this.module(mlp, `${path}.mlp.fc1`, "Linear", bad ? 0.33 : drift, hurt);
    this.call(mlp, "Functional.gelu", bad ? 0.31 : drift, { shape: "[2, 512, 4096]", ...hurt });
    this.module(mlp, `${path}.mlp.fc2`, "Linear", bad ? 0.28 : drift, hurt);
    if (at % 2 === 0) {
      const only = { only: "g" as const, shape: HIDDEN, micro };
      this.call(layer, "Functional.dropout", 0, only);
    }
  }

  private backward(layers: number, micro: number): void {
    const path = "decoder";
    const top = this.maker.add(ROOT, {
      name: `Module.${path}.TransformerBlock.backward.${micro}`,
      label: path,
      cls: "TransformerBlock",
      kind: "module",
      dir: "b",
      shape: HIDDEN,
      index: this.after(layers - 1),
      micro,
    });
    for (let at = layers - 1; at >= 0; at -= 1) {
      const name = `Module.${path}.layers.${at}.TransformerLayer.backward.${micro}`;
      const index = this.after(layers - 1);
      const cls = "TransformerLayer";
      const layer = this.maker.add(top, {
        ...{ name, label: `layers.${at}`, cls, index, micro },
        ...{ kind: "module", dir: "b", shape: HIDDEN },
      });
      for (const part of ["mlp", "attn"]) {
        this.maker.add(layer, {
          ...{ name: `Module.${path}.layers.${at}.${part}.Block.backward.${micro}`, label: part },
          ...{ cls: "Block", kind: "module", dir: "b", shape: HIDDEN, index, micro },
        });
      }
    }
  }

  make(microSteps: number): EmbeddedUnit {
    for (let micro = 0; micro < microSteps; micro += 1) {
      this.module(ROOT, "embedding", "Embedding", this.small(), { micro });
      const index = this.faulty === null ? 0.02 : 0.05;
      const decoder = this.module(ROOT, "decoder", "TransformerBlock", index, { micro });
      for (let at = 0; at < this.layers; at += 1) this.layer(decoder, at, micro);
      const between = this.maker.add(ROOT, {
        ...{ name: `Apis_Between_Modules.${micro}`, label: `Apis_Between_Modules.${micro}` },
        ...{ kind: "collection", dir: "", index: this.after(this.layers - 1), micro },
      });
      this.call(between, "Functional.cross_entropy", this.after(this.layers), {
        shape: "[]",
        micro,
      });
      this.call(between, "Distributed.all_reduce", this.after(this.layers), { shape: "[]", micro });
      this.backward(this.layers, micro);
    }
    return this.maker.finish();
  }
}

export function transformer(
  file: string,
  layers: number,
  ranks: number,
  steps = 1,
  firstRank = 0,
): EmbeddedData {
  const units: EmbeddedUnit[] = [];
  const described = [];
  for (let step = 0; step < steps; step += 1) {
    for (let rank = firstRank; rank < firstRank + ranks; rank += 1) {
      const faulty = (rank + step) % 4 === 3 ? 1 : rank % 4 === 2 ? layers - 1 : null;
      const micro = step === 0 ? 1 : 2;
      const unit = new TransformerMaker(layers, faulty, rank + 9 * step, false).make(micro);
      units.push(unit);
      described.push(unitOf(step, rank, micro, unit));
    }
  }
  return dataOf(file, units, described);
}

export function singleGraph(file: string): EmbeddedData {
  const unit = new TransformerMaker(4, null, 3, true).make(1);
  return dataOf(file, [unit], [unitOf(0, 0, 1, unit)]);
}

function oneUnit(file: string, maker: GraphMaker): EmbeddedData {
  const unit = maker.finish();
  return dataOf(file, [unit], [unitOf(0, 0, 1, unit)]);
}

export function wide(file: string, children: number): EmbeddedData {
  const maker = new GraphMaker();
  const layer = maker.add(ROOT, { name: "Module.wide.W.forward.0", label: "wide", kind: "module" });
  for (let at = 0; at < children; at += 1) {
    const index = at === children - 7 ? 1 : 0.01;
    maker.add(layer, {
      name: `Torch.add.${at}.forward`,
      label: `Torch.add.${at}`,
      index,
      shape: "[4]",
    });
  }
  return oneUnit(file, maker);
}

/** What index, status and overflow tell of the same nodes is not the same. */
export function verdicts(file: string): EmbeddedData {
  const maker = new GraphMaker();
  const module = (parent: Pair, name: string, more: Partial<NodeSpec> = {}) =>
    maker.add(parent, {
      ...{ name: `Module.${name}.Block.forward.0`, label: name, cls: "Block", kind: "module" },
      ...more,
    });
  const call = (parent: Pair, at: number, more: Partial<NodeSpec>) =>
    maker.add(parent, { name: `Torch.add.${at}.forward`, label: `Torch.add.${at}`, ...more });
  const calm = module(ROOT, "calm", { index: 0.05 });
  const inner = module(calm, "inner", { index: 0.05 });
  call(inner, 0, { index: 0.15, status: "error" });
  call(inner, 1, { index: 0.1, status: "error", overflow: "medium" });
  call(inner, 2, { index: 0.95, status: "warning", overflow: "medium" });
  const loud = module(ROOT, "loud", { index: 0.9, status: "error", overflow: "critical" });
  call(loud, 3, { index: 0.1, status: "error", overflow: "critical" });
  const quiet = module(ROOT, "quiet", { index: 0.9, status: "pass" });
  call(quiet, 4, { index: 0.95, status: "pass" });
  return oneUnit(file, maker);
}

export function deep(file: string, depth: number): EmbeddedData {
  const maker = new GraphMaker();
  let parent = ROOT;
  for (let at = 0; at < depth; at += 1) {
    const index = at === depth - 1 ? 0.97 : 0.03;
    const name = `Module.m${at}.Block.forward.0`;
    parent = maker.add(parent, { name, label: `m${at}`, cls: "Block", kind: "module", index });
  }
  return oneUnit(file, maker);
}

export function hostile(file: string): EmbeddedData {
  const maker = new GraphMaker();
  const names = [
    "<script>window.hacked = 1</script>",
    "\"><img src=x onerror='window.hacked=1'>",
    "层.注意力.前向",
    "שלום.מודול.0",
    "a&amp;b %3Cscript%3E \u202Egnp.exe",
    `long.${"x".repeat(10_000)}`,
  ];
  names.forEach((name, at) => {
    const parent = maker.add(ROOT, {
      name,
      label: name,
      cls: name.slice(0, 40),
      kind: "module",
      index: at / 5,
    });
    maker.add(parent, {
      name: `${name}.inner`,
      label: "inner",
      index: 0.5,
      reason: name,
      frame: name,
    });
  });
  return oneUnit(file, maker);
}
