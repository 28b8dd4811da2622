/** Which colour a node has, as the name of a colour that the theme fills in. */

import type { Band, Brief, Overflow, UnitCounts, Verdict } from "../api/types";

export type Coloring = "index" | "status" | "overflow";

/** `band-2`, `unmatched`, `error`, …: the custom properties `--fill-…` and `--edge-…`. */
export type Paint = string;

export const NO_PAINT: Paint = "none";

export function bandOf(bands: readonly Band[], index: number): number {
  const at = bands.findIndex((band) => index < band.hi);
  return at < 0 ? bands.length - 1 : at;
}

export function indexPaint(bands: readonly Band[], index: number | null): Paint {
  return index === null || bands.length === 0 ? NO_PAINT : `band-${bandOf(bands, index)}`;
}

/** The colour of a node by its own verdict. */
export function paintOf(coloring: Coloring, bands: readonly Band[], verdict: Verdict): Paint {
  if (coloring === "overflow") return verdict.overflow === "" ? NO_PAINT : verdict.overflow;
  if (verdict.status === "unmatched") return "unmatched";
  if (coloring === "status") return verdict.status === "" ? NO_PAINT : verdict.status;
  return indexPaint(bands, verdict.index);
}

const LEVELS: readonly Overflow[] = ["", "medium", "high", "critical"];

export function isWorse(one: Overflow, other: Overflow): boolean {
  return LEVELS.indexOf(one) > LEVELS.indexOf(other);
}

/** Of a unit. */
export function worstOverflow({ overflow }: Pick<UnitCounts, "overflow">): Overflow {
  return LEVELS.findLast((level) => level !== "" && overflow[level] > 0) ?? "";
}

/** The colour of the worst overflow inside a closed row, if it is worse than the row's own. */
export function hiddenOverflow(node: Pick<Brief, "overflow" | "overflow_inside">): Paint | null {
  return isWorse(node.overflow_inside, node.overflow) ? node.overflow_inside : null;
}

/** The colour of the worst node inside a closed row, if it is worse than the row itself. */
export function hiddenPaint(bands: readonly Band[], verdict: Verdict): Paint | null {
  if (verdict.worst === null || bands.length === 0) return null;
  const worst = bandOf(bands, verdict.worst);
  if (worst === 0 || (verdict.index !== null && bandOf(bands, verdict.index) >= worst)) return null;
  return `band-${worst}`;
}
