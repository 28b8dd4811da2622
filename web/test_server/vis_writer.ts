/** Writes the graphs made in memory as `.vis` files, so that `msprobe view` can show the same. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type {
  Detail,
  EmbeddedBrief,
  EmbeddedData,
  EmbeddedUnit,
  RecordedValue,
  Side,
} from "../src/api/types";
import { UnitData } from "../src/api/unit_data";
import { BANDS } from "./graph_maker";

type Entry = Record<string, string>;
type Entries = Record<string, Entry>;

/** Overflow levels as numbers, as the files have them. */
const LEVELS: Record<string, string> = { medium: "medium", high: "high", critical: "critical" };

function entriesOf(
  detail: Detail,
  side: Side,
  section: (value: RecordedValue) => boolean,
): Entries {
  const entries: Entries = {};
  for (const value of detail.values.filter(section)) {
    const recorded = side === "t" ? value.target : value.golden;
    if (recorded === null) continue;
    const metrics = side === "t" ? value.metrics : {};
    const texts = Object.entries(metrics).map(([name, number]) => [name, String(number)]);
    entries[`${detail.node.name}.${value.key}`] = {
      ...recorded,
      data_name: "-1",
      ...(side === "t" && value.status !== ""
        ? { Result: value.status === "error" ? "Different" : value.status, Reason: value.reason }
        : {}),
      ...Object.fromEntries(texts),
    } as Entry;
  }
  return entries;
}

function peersOf(detail: Detail): object {
  if (detail.peers.length === 0) return {};
  const nodes = detail.peers.map((peer) => [peer.rank, ["1", peer.name]]);
  return { communications_type: "all_reduce", nodes_info: Object.fromEntries(nodes) };
}

function visNode(data: UnitData, unit: EmbeddedUnit, side: Side, node: EmbeddedBrief): object {
  const own = data.side(side);
  const other = data.side(side === "t" ? "g" : "t");
  const detail = unit.details[side][String(node.id)] as Detail;
  const nameOf = (id: number) => own.byId.get(id)?.name ?? "";
  const link =
    node.partner === null
      ? []
      : ["DefaultModel", ...other.chain(node.partner).map((step) => step.name)];
  const kinds = { root: 0, module: 0, api: 1, collection: 9 };
  const isOutput = (value: RecordedValue) => value.section === "output";
  return {
    id: node.name,
    node_type: kinds[node.kind],
    output_data: entriesOf(detail, side, isOutput),
    input_data: entriesOf(detail, side, (value) => !isOutput(value)),
    upnode: node.parent < 0 ? "None" : nameOf(node.parent),
    subnodes: own.childrenOf(node.id).map(nameOf),
    matched_node_link: link,
    suggestions: {},
    stack_info: detail.stack[side === "t" ? "target" : "golden"],
    micro_step_id: node.micro,
    data: {
      ...(node.index === null ? {} : { precision_index: Math.min(node.index, 0.999999) }),
      ...(node.overflow === "" ? {} : { overflow_level: LEVELS[node.overflow] }),
    },
    matched_distributed: peersOf(detail),
    msprobe: {
      ...(node.index === null ? {} : { index: node.index }),
      ...(node.worst === null ? {} : { worst_below: node.worst }),
      status: node.status,
      reason: detail.reason,
      ...(node.role === "" ? {} : { role: node.role }),
    },
  };
}

function sideOf(data: UnitData, unit: EmbeddedUnit, side: Side): object {
  // Files keep the order of creation, which ids count.
  const nodes = [...data.side(side).order].sort((a, b) => a.id - b.id);
  const entries = nodes.map((node) => [node.name, visNode(data, unit, side, node)]);
  return { root: "DefaultModel", dump_data_dir: "", node: Object.fromEntries(entries) };
}

function visText(data: EmbeddedData, u: number): string {
  const unit = data.units[u] as EmbeddedUnit;
  const graph = new UnitData(unit, BANDS);
  const colors = BANDS.map((band) => [
    band.color,
    { value: [band.lo, band.hi], description: band.label },
  ]);
  const facts = {
    MicroSteps: data.open.units[u]?.micro_steps ?? 1,
    OverflowCheck: data.open.overflow,
  };
  if (!graph.comparison) return JSON.stringify({ ...sideOf(graph, unit, "t"), ...facts });
  return JSON.stringify({
    NPU: sideOf(graph, unit, "t"),
    Bench: sideOf(graph, unit, "g"),
    ToolTip: "{}",
    Colors: Object.fromEntries(colors),
    task: "summary",
    ...facts,
  });
}

/** One file a unit; `name` has stars for step and rank where there are many. */
export function writeVis(folder: string, name: string, data: EmbeddedData): void {
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  data.open.units.forEach((unit, u) => {
    const file = name.replace("step*", `step${unit.step}`).replace("rank*", `rank${unit.rank}`);
    writeFileSync(join(folder, file), visText(data, u), { mode: 0o640 });
  });
}
