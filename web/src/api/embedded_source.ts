/** The viewer's API answered by data that stands in the page: an exported report. */

import { ApiError, type Source, type UnitRef } from "./source";
import type { Detail, EmbeddedData, EmbeddedUnit, Item, Page, Side } from "./types";
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

  path: Source["path"] = async ({ u }, node, alone) => {
    const unit = this.unit(u);
    let id: number | undefined;
    if ("id" in node) id = node.id;
    else id = unit.side(node.side).order.find((brief) => brief.name === node.name)?.id;
    if (id === undefined) throw new ApiError(404, "no node has this name", "", "");
    return { side: node.side, id, rows: unit.path(node.side, id, alone) };
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

  seek: Source["seek"] = async ({ u }, from, forward, filter) => {
    const node = this.unit(u).seek(from.side, from.id, forward, filter);
    return node === null ? null : itemOf(from.side, node);
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
    return {
      total: culprits.length,
      victims: count("victim"),
      undecided: count("undecidable"),
      culprits: culprits.slice(0, MAX_CULPRITS).map(({ id, name }) => {
        const detail = this.detail(u, "t", id);
        return { id, name, reason: detail?.reason ?? "", frame: detail?.stack.target[0] ?? "" };
      }),
    };
  };

  matches: Source["matches"] = async () => ({ total: 0, pairs: [], undo: false });
  match: Source["match"] = readOnly;
  unmatch: Source["unmatch"] = readOnly;
  matchesYaml: Source["matchesYaml"] = (_unit: UnitRef) => null;
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
