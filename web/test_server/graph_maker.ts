/** Makes comparisons in memory: pairs of nodes on both sides, completed like the core does it. */

import type {
  Band,
  Detail,
  EmbeddedBrief,
  EmbeddedData,
  EmbeddedUnit,
  NodeStatus,
  Overflow,
  RecordedValue,
  Side,
  Unit,
} from "../src/api/types";
import { itemOf, UnitData } from "../src/api/unit_data";
import { isWorseIn, LEVELS, STATUSES } from "../src/model/paint";

export const BANDS: Band[] = [
  ["#FFFCF3", 0, 0.2, "very low"],
  ["#FFEDBE", 0.2, 0.4, "low"],
  ["#FFDC7F", 0.4, 0.6, "medium"],
  ["#FFC62E", 0.6, 0.8, "high"],
  ["#FF704D", 0.8, 1, "very high"],
].map(([color, lo, hi, label]) => ({ color, lo, hi, label }) as Band);

export interface NodeSpec extends Partial<EmbeddedBrief> {
  name: string;
  label: string;
  reason?: string;
  frame?: string;
  /** Which sides have the node. */
  only?: Side;
}

/** Ids of a node on both sides; -1 where it is not. */
export interface Pair {
  t: number;
  g: number;
}

export class GraphMaker {
  readonly target: EmbeddedBrief[] = [];
  readonly golden: EmbeddedBrief[] = [];
  private readonly specs = { t: new Map<number, NodeSpec>(), g: new Map<number, NodeSpec>() };

  constructor(private readonly single = false) {
    this.add({ t: -1, g: -1 }, { name: "DefaultModel", label: "DefaultModel", kind: "root" });
  }

  add(parent: Pair, spec: NodeSpec): Pair {
    const pair = { t: -1, g: -1 };
    if (spec.only !== "g") pair.t = this.place("t", parent.t, spec);
    if (spec.only !== "t" && !this.single) pair.g = this.place("g", parent.g, spec);
    const t = this.target[pair.t];
    const g = this.golden[pair.g];
    if (t !== undefined && g !== undefined) {
      t.partner = g.id;
      g.partner = t.id;
    }
    return pair;
  }

  private place(side: Side, parent: number, spec: NodeSpec): number {
    const nodes = side === "t" ? this.target : this.golden;
    const { reason: _reason, frame: _frame, only, ...fields } = spec;
    const index = only === undefined && !this.single ? (spec.index ?? null) : null;
    const brief: EmbeddedBrief = {
      id: nodes.length,
      parent,
      kind: "api",
      cls: "",
      dir: "f",
      shape: "",
      n: 0,
      status: this.single ? "" : only === undefined ? statusOf(index) : "unmatched",
      overflow: "",
      role: "",
      partner: null,
      micro: 0,
      ...fields,
      index,
      worst: index,
      inside: 0,
      overflow_inside: "",
      overflow_count: 0,
      status_inside: "",
      status_count: 0,
    };
    nodes.push(brief);
    this.specs[side].set(brief.id, spec);
    return brief.id;
  }

  finish(): EmbeddedUnit {
    for (const nodes of [this.target, this.golden]) {
      for (const node of [...nodes].reverse()) {
        const parent = nodes[node.parent];
        if (parent === undefined) continue;
        parent.n += 1;
        if (node.worst !== null) parent.worst = Math.max(parent.worst ?? 0, node.worst);
        addOverflow(parent, node.overflow_inside, node.overflow_count);
        addOverflow(parent, node.overflow, 1);
        addStatus(parent, node.status_inside, node.status_count);
        addStatus(parent, node.status, 1);
        parent.inside += node.inside + (node.index !== null && node.index >= 0.8 ? 1 : 0);
      }
    }
    const unit: EmbeddedUnit = {
      target: inExecutionOrder(this.target),
      golden: inExecutionOrder(this.golden),
      details: { t: {}, g: {} },
    };
    const data = new UnitData(unit, BANDS);
    for (const side of ["t", "g"] as const) {
      for (const node of side === "t" ? unit.target : unit.golden) {
        unit.details[side][String(node.id)] = this.detail(data, side, node);
      }
    }
    return unit;
  }

  private detail(data: UnitData, side: Side, node: EmbeddedBrief): Detail {
    const other = side === "t" ? data.g : data.t;
    const partner = node.partner === null ? undefined : other.byId.get(node.partner);
    const spec = this.specs[side].get(node.id);
    const frame = spec?.frame ?? "File /train/model.py, line 40, in forward, \n x = layer(x)";
    const outer = "File /train/loop.py, line 112, in step, \n loss = model(batch)";
    const has = (one: Side) => one === side || partner !== undefined;
    const stack = (one: Side) => (has(one) ? [frame, outer] : []);
    return {
      node: itemOf(side, node),
      cls: node.cls,
      dir: node.dir,
      micro: node.micro,
      reason: spec?.reason ?? "",
      path: [
        { id: 0, label: "DefaultModel" },
        ...data
          .side(side)
          .chain(node.id)
          .map(({ id, label }) => ({ id, label })),
      ],
      partner: partner === undefined ? null : { id: partner.id, name: partner.name },
      stack: { target: stack("t"), golden: stack("g") },
      values: valuesOf(node, has("t"), has("g")),
      peers: node.name.includes("all_reduce")
        ? [0, 1, 2, 3].map((rank) => ({ rank: String(rank), u: rank, name: node.name }))
        : [],
    };
  }
}

function addOverflow(parent: EmbeddedBrief, level: Overflow, count: number): void {
  if (level === parent.overflow_inside && level !== "") parent.overflow_count += count;
  if (!isWorseIn(LEVELS, level, parent.overflow_inside)) return;
  parent.overflow_inside = level;
  parent.overflow_count = count;
}

function addStatus(parent: EmbeddedBrief, status: NodeStatus, count: number): void {
  if (status === "" || status === "unmatched" || status === "pass") return;
  if (status === parent.status_inside) parent.status_count += count;
  if (!isWorseIn(STATUSES, status, parent.status_inside)) return;
  parent.status_inside = status;
  parent.status_count = count;
}

function statusOf(index: number | null): EmbeddedBrief["status"] {
  if (index === null) return "";
  return index >= 0.8 ? "error" : index >= 0.4 ? "warning" : "pass";
}

function inExecutionOrder(nodes: EmbeddedBrief[]): EmbeddedBrief[] {
  const children = new Map<number, EmbeddedBrief[]>();
  for (const node of nodes) {
    const siblings = children.get(node.parent) ?? [];
    siblings.push(node);
    children.set(node.parent, siblings);
  }
  const order: EmbeddedBrief[] = [];
  const stack = [...(children.get(-1) ?? [])];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    order.push(node);
    stack.push(...[...(children.get(node.id) ?? [])].reverse());
  }
  return order;
}

function valuesOf(node: EmbeddedBrief, target: boolean, golden: boolean): RecordedValue[] {
  const off = node.index ?? 0;
  const seed = (node.id * 37) % 100;
  const value = (
    key: string,
    section: RecordedValue["section"],
    shape: string,
    error: number,
  ): RecordedValue => {
    const max = 1 + seed / 7;
    const side = (dtype: string, scale: number) => ({
      type: "torch.Tensor",
      dtype,
      shape,
      Max: String(max * scale),
      Min: String(-max * 0.957 * scale),
      Mean: String(0.0031191 * scale),
      Norm: String(2048.71 * max * scale),
      requires_grad: "True",
    });
    const bad = error > 0.2;
    return {
      key,
      section,
      target: target ? side("torch.float16", 1 + error * 0.98) : null,
      golden: golden ? side("torch.float32", 1) : null,
      metrics:
        target && golden
          ? {
              "Max diff": String(max * error),
              MaxRelativeErr: `${(error * 98).toFixed(4)}%`,
              NormRelativeErr: `${(error * 61.5).toFixed(4)}%`,
            }
          : {},
      status: bad ? "error" : "pass",
      reason: bad ? "the maximum is off by more than 50 %" : "",
      differs: bad ? ["Max", "Min", "Mean", "Norm"] : [],
    };
  };
  const shape = node.shape === "" ? "[2, 512, 1024]" : node.shape;
  // All that `msprobe graph` writes of a number.
  const four = { Max: "-1", Min: "-1", Mean: "-1", Norm: "-1" };
  const scalar = { type: "int", value: "-1", ...four, dtype: "<class int>", shape: "[]" };
  const number: RecordedValue = {
    key: "input.dim",
    section: "input",
    target: target ? scalar : null,
    golden: golden ? scalar : null,
    metrics: {},
    status: "",
    reason: "",
    differs: [],
  };
  const values = [value("input.0", "input", shape, node.role === "victim" ? off : off * 1e-4)];
  if (node.kind === "api") values.push(number);
  values.push(value("output.0", "output", shape, off));
  if (node.kind === "module" && node.n === 0) {
    values.push(value("parameters.weight", "parameter", "[1024, 1024]", 0));
  }
  return values;
}

/** What `open` says about a unit. */
/** The run by what colours can mean, as the core tells it. */
function stripsOf(data: UnitData): Pick<Unit, "strip" | "strip_status" | "strip_overflow"> {
  const bins = data.overview(48);
  const letters = { warning: "w", unreadable: "r", error: "e", "": "." };
  const grey = (letter: string, unmatched: number) =>
    unmatched > 0 && (letter === "." || letter === "0") ? "u" : letter;
  const index = bins.map(({ worst, unmatched }) =>
    grey(worst === null ? "." : String(data.bandOf(worst)), unmatched),
  );
  const status = bins.map((bin) => grey(letters[bin.status], bin.unmatched));
  const overflow = bins.map((bin) => bin.overflow.slice(0, 1) || ".");
  const told = (strip: string[]) => strip.some((letter) => letter !== ".");
  return {
    strip: index.join(""),
    ...(told(status) && { strip_status: status.join("") }),
    ...(told(overflow) && { strip_overflow: overflow.join("") }),
  };
}

export function unitOf(step: number, rank: number, micro: number, unit: EmbeddedUnit): Unit {
  const data = new UnitData(unit, BANDS);
  const count = (by: "status" | "overflow" | "role", value: string) =>
    data.list("t", { by, value }).length;
  const unmatched = (side: Side) => data.list(side, { by: "unmatched", value: "" }).length;
  return {
    step,
    rank,
    micro_steps: micro,
    nodes: [unit.target.length, unit.golden.length],
    worst: unit.target[0]?.worst ?? null,
    culprits: count("role", "culprit"),
    undecided: data
      .list("t", { by: "role", value: "undecidable" })
      .filter(({ status }) => status !== "unreadable").length,
    ...stripsOf(data),
    counts: {
      bands: BANDS.map((_, i) => data.list("t", { by: "band", value: String(i) }).length),
      unmatched: [unmatched("t"), unmatched("g")],
      pass: count("status", "pass"),
      warning: count("status", "warning"),
      error: count("status", "error"),
      unreadable: count("status", "unreadable"),
      overflow: {
        medium: count("overflow", "medium"),
        high: count("overflow", "high"),
        critical: count("overflow", "critical"),
      },
    },
  };
}

export function dataOf(file: string, units: EmbeddedUnit[], description: Unit[]): EmbeddedData {
  const comparison = (units[0]?.golden.length ?? 0) > 0;
  return {
    version: 1,
    open: {
      state: "ready",
      file,
      type: comparison ? "compare" : "build",
      mode: "statistics",
      overflow: units.some((unit) => unit.target.some((node) => node.overflow !== "")),
      can_match: comparison,
      bands: BANDS,
      units: description,
      notes: [],
    },
    units,
  };
}
