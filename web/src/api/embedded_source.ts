/** The viewer's API answered by data that stands in the page: an exported report. */

import { ApiError, type PathOptions, type Source, type UnitRef } from "./source";
import type {
  Detail,
  EmbeddedBrief,
  EmbeddedData,
  EmbeddedUnit,
  Item,
  NodePath,
  Page,
  Side,
} from "./types";
import { itemOf, UnitData } from "./unit_data";

const MAX_CULPRITS = 100;

export class EmbeddedSource implements Source {
  private readonly units = new Map<number, UnitData>();

  constructor(private readonly data: EmbeddedData) {}

  /** The data that the page carries, if it carries some. */
  static fromPage(page: Document): EmbeddedSource | null {
    const text = page.getElementById("msprobe-data")?.textContent ?? "";
    return text.trim() === "" ? null : new EmbeddedSource(JSON.parse(text) as EmbeddedData);
  }

  private embedded(u: number): EmbeddedUnit {
    const unit = this.data.units[u];
    if (unit === undefined) throw new ApiError(404, "there is no such unit in this report", "", "");
    return unit;
  }

  unit(u: number): UnitData {
    let unit = this.units.get(u);
    if (unit === undefined) {
      unit = new UnitData(this.embedded(u), this.data.open.bands);
      this.units.set(u, unit);
    }
    return unit;
  }

  private detail(u: number, side: Side, id: number): Detail | undefined {
    return this.embedded(u).details[side][String(id)];
  }

  files: Source["files"] = async () => ({
    root: "",
    files: [
      { file: this.data.open.file, kind: "vis", type: this.data.open.type, bytes: 0, modified: 0 },
    ],
    notes: [],
  });

  open: Source["open"] = async () => this.data.open;
  cancel: Source["cancel"] = async () => {};

  rows: Source["rows"] = async ({ u }, t, g, offset, limit, micro) => {
    const unit = this.unit(u);
    let rows = unit.align([t, g]);
    if (micro !== null) {
      rows = rows.filter(
        (ids) => (unit.t.byId.get(ids[0]) ?? unit.g.byId.get(ids[1]))?.micro === micro,
      );
    }
    const shown = rows.slice(offset, offset + limit).map((ids) => unit.row(ids));
    return { total: rows.length, offset, rows: shown };
  };

  inside: Source["inside"] = async ({ u }, of, limit) => {
    const unit = this.unit(u);
    return of.map(([t, g]) => {
      const rows = unit.align([t, g]).slice(0, limit);
      return { t, g, rows: rows.map((ids) => unit.row(ids)) };
    });
  };

  path: Source["path"] = async ({ u }, node, options) => {
    const unit = this.unit(u);
    let id: number | undefined;
    if ("id" in node) id = node.id;
    else id = unit.side(node.side).order.find((brief) => brief.name === node.name)?.id;
    if (id === undefined) throw new ApiError(404, "no node has this name", "", "");
    return pathTo(unit, node.side, id, options);
  };

  list: Source["list"] = async ({ u }, filter, side, offset, limit) => {
    const found = this.unit(u).list(side, filter);
    return page(
      found.map((node) => itemOf(side, node)),
      offset,
      limit,
    );
  };

  search: Source["search"] = async ({ u }, query, side, offset, limit) => {
    const unit = this.unit(u);
    const sides: Side[] = side === "b" ? ["t", "g"] : [side];
    const found = sides.flatMap((one) =>
      unit
        .side(one)
        .find(query)
        .map((node) => itemOf(one, node)),
    );
    return page(found, offset, limit);
  };

  seek: Source["seek"] = async ({ u }, from, forward, filter, options) => {
    const unit = this.unit(u);
    const node = unit.seek(from.side, from.id, forward, filter);
    if (node === null) return null;
    return { item: itemOf(from.side, node), path: pathTo(unit, from.side, node.id, options) };
  };

  node: Source["node"] = async ({ u }, side, id) => {
    const detail = this.detail(u, side, id);
    if (detail !== undefined) return detail;
    throw new ApiError(
      404,
      "the values of this node are not in the report",
      "export again with this node's part of the graph, or open the file with 'msprobe view'",
      "",
    );
  };

  overview: Source["overview"] = async ({ u }, bins) => this.unit(u).overview(bins);

  divergence: Source["divergence"] = async ({ u }) => {
    const unit = this.unit(u);
    const count = (value: string) => unit.list("t", { by: "role", value }).length;
    const culprits = unit.list("t", { by: "role", value: "culprit" });
    const undecided = unit.list("t", { by: "role", value: "undecidable" });
    const first = firstDifference(unit.t.order);
    const told = ({ id, name }: { id: number; name: string }) => {
      const detail = this.detail(u, "t", id);
      return { id, name, reason: detail?.reason ?? "", frame: detail?.stack.target[0] ?? "" };
    };
    return {
      total: culprits.length,
      victims: count("victim"),
      undecided: undecided.length,
      culprits: culprits.slice(0, MAX_CULPRITS).map(told),
      first_difference: culprits.length > 0 || first === undefined ? null : told(first),
    };
  };

  matches: Source["matches"] = async () => ({ total: 0, pairs: [], undo: null, mapping: false });
  match: Source["match"] = readOnly;
  unmatch: Source["unmatch"] = readOnly;
  matchesYaml: Source["matchesYaml"] = (_unit: UnitRef) => null;
}

function pathTo(unit: UnitData, side: Side, id: number, { alone, page }: PathOptions): NodePath {
  const rows = unit.path(side, id, alone);
  const last = rows.at(-1);
  if (last === undefined || page === 0) return { side, id, rows };
  const offset = Math.floor(last.at / page) * page;
  const around = rows.at(-2) ?? unit.top(side, alone);
  const siblings = unit.align([around.t, around.g]).slice(offset, offset + page);
  return { side, id, rows, page: { offset, rows: siblings.map((ids) => unit.row(ids)) } };
}

/** Of nodes without a culprit the one that `msprobe compare` names: the first that differs, or the first error. */
function firstDifference(order: readonly EmbeddedBrief[]): EmbeddedBrief | undefined {
  const nodes = order.filter(({ id, kind }) => id !== 0 && kind !== "collection");
  return (
    nodes.find(({ role, status }) => role !== "" && status !== "unreadable") ??
    nodes.find(({ status }) => status === "error")
  );
}

async function readOnly(): Promise<never> {
  throw new ApiError(
    400,
    "a report cannot be changed",
    "open the file with 'msprobe view' to match nodes by hand",
    "",
  );
}

function page(items: Item[], offset: number, limit: number): Page<Item> {
  return { total: items.length, offset, items: items.slice(offset, offset + limit) };
}
