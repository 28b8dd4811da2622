/** Which part of a run the rows in sight stand for. */

import type { Side } from "../api/types";
import { ROW_UNITS } from "../model/row_tree";
import type { Line } from "./window";

/** From the first order in sight up to, but without, the one at the end. */
export interface Orders {
  begin: number;
  end: number;
}

/** Units from the top that can be seen, of all that there are. */
export interface Seen {
  begin: number;
  end: number;
  height: number;
}

/**
 * The orders of the rows that reach into sight; a closed row stands for all inside, so what is in
 * sight ends where the row below begins. `lines` are those in sight and some around.
 */
export function ordersInSight(
  lines: readonly Line[],
  side: Side,
  { begin, end, height }: Seen,
  nodes: number,
): Orders | null {
  let first: number | undefined;
  let last = 0;
  for (const line of lines) {
    const order = line.kind === "row" ? line.row?.[side]?.order : undefined;
    if (order === undefined || line.offset + ROW_UNITS <= begin) continue;
    if (line.offset >= end) return first === undefined ? null : between(first, last, order);
    first ??= order;
    last = order;
  }
  if (first === undefined) return null;
  // Nothing below has this side: either the run ends here, or its rows have not come yet.
  const line = lines.at(-1);
  const wholly = line !== undefined && line.offset + ROW_UNITS >= height;
  return between(first, last, wholly ? nodes : last + 1);
}

function between(begin: number, last: number, end: number): Orders {
  return { begin, end: Math.max(last + 1, end) };
}
