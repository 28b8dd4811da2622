/** One unit held in memory: the questions of the API, answered without a server. */

import {
  type Band,
  type EmbeddedBrief,
  type EmbeddedUnit,
  type Filter,
  GAP,
  type Item,
  type OverviewBin,
  type PathStep,
  type Row,
  type Side,
} from "./types";

export type RowIds = readonly [target: number, golden: number];

/** The nodes of one side, found by id. */
export class SideData {
  readonly byId = new Map<number, EmbeddedBrief>();
  readonly children = new Map<number, number[]>();
  readonly position = new Map<number, number>();
  private readonly folded: string[];

  constructor(readonly order: readonly EmbeddedBrief[]) {
    order.forEach((node, at) => {
      this.byId.set(node.id, node);
      this.position.set(node.id, at);
      const siblings = this.children.get(node.parent);
      if (siblings === undefined) this.children.set(node.parent, [node.id]);
      else siblings.push(node.id);
    });
    this.folded = order.map((node) => node.name.toLowerCase());
  }

  childrenOf(id: number): readonly number[] {
    return id === GAP ? [] : (this.children.get(id) ?? []);
  }

  /** The node and those around it, the outermost below the root first. */
  chain(id: number): EmbeddedBrief[] {
    const chain: EmbeddedBrief[] = [];
    let node = this.byId.get(id);
    while (node !== undefined && node.parent !== GAP && chain.length <= this.order.length) {
      chain.push(node);
      node = this.byId.get(node.parent);
    }
    return chain.reverse();
  }

  /**
   * Parts between stars may stand in the names of the boxes around a node, in their order, but for
   * the last one.
   */
  find(query: string): EmbeddedBrief[] {
    if (query === "") return [];
    const parts = query.toLowerCase().split("*").filter(Boolean);
    const around = new Map<number, number>();
    return this.order.filter((node, i) => {
      if (node.parent === GAP) return false;
      const outside = around.get(node.parent) ?? 0;
      const found = foundUpTo(this.folded[i] as string, parts, outside);
      const inside = Math.min(found, parts.length - 1);
      if (inside > 0) around.set(node.id, inside);
      return found >= parts.length;
    });
  }
}

/** How many parts are found up to the end of a name, of which so many are around it. */
function foundUpTo(name: string, parts: readonly string[], around: number): number {
  let at = 0;
  for (let found = around; found < parts.length; found += 1) {
    const part = parts[found] as string;
    at = name.indexOf(part, at);
    if (at < 0) return found;
    at += part.length;
  }
  return parts.length;
}

export class UnitData {
  readonly t: SideData;
  readonly g: SideData;
  readonly comparison: boolean;

  constructor(
    unit: EmbeddedUnit,
    private readonly bands: readonly Band[],
  ) {
    this.t = new SideData(unit.target);
    this.g = new SideData(unit.golden);
    this.comparison = unit.golden.length > 0;
  }

  side(side: Side): SideData {
    return side === "t" ? this.t : this.g;
  }

  /** Children of both nodes, merged: partners share a row, the rest stay between neighbours. */
  align([target, golden]: RowIds): RowIds[] {
    const goldens = this.g.childrenOf(golden);
    const place = new Map(goldens.map((id, at) => [id, at]));
    const targets = this.t.childrenOf(target);
    const partnerOf = (id: number) => this.t.byId.get(id)?.partner ?? GAP;
    const paired = new Set(targets.map(partnerOf).filter((id) => place.has(id)));
    const rows: RowIds[] = [];
    let next = 0;
    const flush = (end: number) => {
      for (; next < end; next += 1) {
        const id = goldens[next] as number;
        if (!paired.has(id)) rows.push([GAP, id]);
      }
    };
    for (const id of targets) {
      const at = place.get(partnerOf(id));
      if (at === undefined) {
        rows.push([id, GAP]);
      } else {
        flush(at);
        rows.push([id, goldens[at] as number]);
      }
    }
    flush(goldens.length);
    return rows;
  }

  row(ids: RowIds): Row {
    const t = this.brief("t", ids[0]);
    const g = this.brief("g", ids[1]);
    return { n: this.align(ids).length, index: t !== null && g !== null ? t.index : null, t, g };
  }

  private brief(side: Side, id: number): EmbeddedBrief | null {
    const data = this.side(side);
    const node = data.byId.get(id);
    return node === undefined ? null : { ...node, order: data.position.get(id) ?? 0 };
  }

  /** The row that holds all. */
  top(side: Side, alone: boolean): { t: number; g: number } {
    if (alone) return side === "t" ? { t: 0, g: GAP } : { t: GAP, g: 0 };
    return { t: 0, g: this.comparison ? 0 : GAP };
  }

  path(side: Side, id: number, alone: boolean): PathStep[] {
    const own = side === "t" ? 0 : 1;
    const top = this.top(side, alone);
    let row: RowIds = [top.t, top.g];
    const steps: PathStep[] = [];
    for (const node of this.side(side).chain(id)) {
      const siblings = this.align(row);
      const at = siblings.findIndex((sibling) => sibling[own] === node.id);
      const found = siblings[at];
      if (found === undefined) return [];
      row = found;
      steps.push({ t: row[0], g: row[1], at, total: siblings.length });
    }
    return steps;
  }

  bandOf(index: number): number {
    const at = this.bands.findIndex((band) => index < band.hi);
    return at < 0 ? this.bands.length - 1 : at;
  }

  accepts(node: EmbeddedBrief, { by, value }: Filter): boolean {
    if (node.parent === GAP) return false;
    switch (by) {
      case "band":
        return node.index !== null && this.bandOf(node.index) === Number(value);
      case "status":
        return node.status === value;
      case "unmatched":
        return node.partner === null;
      case "overflow":
        return node.overflow === value;
      case "role":
        return node.role === value;
      case "suspicious":
        return (
          (node.index !== null && this.bandOf(node.index) === this.bands.length - 1) ||
          node.status === "error" ||
          node.status === "unreadable"
        );
    }
  }

  list(side: Side, filter: Filter): EmbeddedBrief[] {
    return this.side(side).order.filter((node) => this.accepts(node, filter));
  }

  seek(side: Side, id: number, forward: boolean, filter: Filter): EmbeddedBrief | null {
    const { order, position } = this.side(side);
    const step = forward ? 1 : -1;
    for (let at = (position.get(id) ?? 0) + step; at >= 0 && at < order.length; at += step) {
      const node = order[at] as EmbeddedBrief;
      if (this.accepts(node, filter)) return node;
    }
    return null;
  }

  overview(bins: number): OverviewBin[] {
    const { order } = this.t;
    const count = Math.min(bins, order.length);
    return Array.from({ length: count }, (_, i) => {
      const begin = Math.floor((i * order.length) / count);
      const end = Math.floor(((i + 1) * order.length) / count);
      const id = order[begin]?.id ?? 0;
      const bin: OverviewBin = {
        ...{ worst: null, unmatched: 0, unmatched_id: id, side: "t", id },
        ...{ status: "", status_id: id, overflow: "", overflow_id: id },
      };
      for (const node of order.slice(begin, end)) {
        addTrouble(bin, node);
        if (this.comparison && node.partner === null) {
          if (bin.unmatched === 0) bin.unmatched_id = node.id;
          bin.unmatched += 1;
        }
        if (node.index === null || (bin.worst !== null && bin.worst >= node.index)) continue;
        bin.worst = node.index;
        bin.id = node.id;
      }
      return bin;
    });
  }
}

const STATUSES: readonly string[] = ["warning", "unreadable", "error"];
const LEVELS: readonly string[] = ["medium", "high", "critical"];

function addTrouble(bin: OverviewBin, { id, status, overflow }: EmbeddedBrief): void {
  if (STATUSES.indexOf(status) > STATUSES.indexOf(bin.status)) {
    bin.status = status as OverviewBin["status"];
    bin.status_id = id;
  }
  if (LEVELS.indexOf(overflow) > LEVELS.indexOf(bin.overflow)) {
    bin.overflow = overflow;
    bin.overflow_id = id;
  }
}

export function itemOf(side: Side, node: EmbeddedBrief): Item {
  const { id, name, label, kind, index, worst, status, overflow, role } = node;
  return { side, id, name, label, kind, index, worst, status, overflow, role };
}
