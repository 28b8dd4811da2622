/** What the address of the page says: which file, unit, node and view; so that it can be shared. */

import type { Filter, Side } from "../api/types";
import type { Coloring } from "./paint";

export interface Place {
  file: string | null;
  step: number | null;
  rank: number | null;
  micro: number | null;
  node: { side: Side; name: string } | null;
  filter: Filter | null;
  filterSide: Side;
  coloring: Coloring | null;
  linked: boolean | null;
}

const FILTERS = new Set(["band", "status", "unmatched", "overflow", "role", "suspicious"]);
const COLORINGS = new Set(["index", "status", "overflow"]);

export function parsePlace(text: string): Place {
  const query = new URLSearchParams(text.replace(/^[#?]/, ""));
  const number = (name: string) => {
    const value = query.get(name);
    return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : null;
  };
  const side = (value: string | null): Side => (value === "g" ? "g" : "t");
  const node = query.get("node");
  const [by = "", value = ""] = (query.get("filter") ?? "").split(":");
  const coloring = query.get("colour");
  return {
    file: query.get("file"),
    step: number("step"),
    rank: number("rank"),
    micro: number("micro"),
    node: node === null ? null : { side: side(query.get("side")), name: node },
    filter: FILTERS.has(by) ? { by: by as Filter["by"], value } : null,
    filterSide: side(query.get("of")),
    coloring: coloring !== null && COLORINGS.has(coloring) ? (coloring as Coloring) : null,
    linked: query.has("linked") ? query.get("linked") !== "0" : null,
  };
}

export function formatPlace(place: Place): string {
  const query = new URLSearchParams();
  const put = (name: string, value: string | number | null) => {
    if (value !== null) query.set(name, String(value));
  };
  put("file", place.file);
  put("step", place.step);
  put("rank", place.rank);
  put("micro", place.micro);
  if (place.node !== null) {
    put("node", place.node.name);
    if (place.node.side === "g") put("side", "g");
  }
  if (place.filter !== null) {
    const { by, value } = place.filter;
    put("filter", value === "" ? by : `${by}:${value}`);
    if (place.filterSide === "g") put("of", "g");
  }
  put("colour", place.coloring);
  if (place.linked === false) put("linked", 0);
  return query.toString();
}
