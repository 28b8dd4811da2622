/** Which colour a node has, as the name of a colour that the theme fills in. */

import type {
  Band,
  Brief,
  NodeStatus,
  Overflow,
  OverviewBin,
  Unit,
  UnitCounts,
  Verdict,
} from "../api/types";

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

/** Words from fine to worst; the last one is red. */
export const LEVELS = ["", "medium", "high", "critical"] as const;
export const STATUSES = ["", "unmatched", "pass", "warning", "unreadable", "error"] as const;

export function isWorseIn<Word>(words: readonly Word[], one: Word, other: Word): boolean {
  return words.indexOf(one) > words.indexOf(other);
}

/** Of a unit. */
export function worstOverflow({ overflow }: Pick<UnitCounts, "overflow">): Overflow {
  return LEVELS.findLast((level) => level !== "" && overflow[level] > 0) ?? "";
}

function worstStatus(counts: UnitCounts): NodeStatus {
  const counted = ["pass", "warning", "unreadable", "error"] as const;
  return counted.findLast((status) => counts[status] > 0) ?? "";
}

/** The colour of the worst node of a unit; one that cannot be read must not look fine. */
export function unitPaint(coloring: Coloring, bands: readonly Band[], unit: Unit): Paint {
  if (unit.error !== undefined) return "unreadable";
  if (coloring === "overflow") return worstOverflow(unit.counts) || NO_PAINT;
  if (coloring === "status") return worstStatus(unit.counts) || NO_PAINT;
  return indexPaint(bands, unit.worst);
}

/** What a closed row tells of the nodes inside. */
export interface Inside {
  paint: Paint;
  /** How many nodes have this colour; 0: not counted. */
  count: number;
  /** The row itself has a better colour, which hides it. */
  hidden: boolean;
}

/** The worst colour inside a closed row, if it is worse than the row's own or red. */
export function insideOf(coloring: Coloring, bands: readonly Band[], node: Brief): Inside | null {
  if (coloring === "index") return indexInside(bands, node);
  const [words, own, worst, count] =
    coloring === "overflow"
      ? ([LEVELS, node.overflow, node.overflow_inside, node.overflow_count] as const)
      : ([STATUSES, node.status, node.status_inside, node.status_count] as const);
  if (worst === "") return null;
  const hidden = isWorseIn<NodeStatus | Overflow>(words, worst, own);
  return hidden || worst === words.at(-1) ? { paint: worst, count, hidden } : null;
}

function indexInside(bands: readonly Band[], node: Brief): Inside | null {
  if (node.worst === null || bands.length === 0) return null;
  const worst = bandOf(bands, node.worst);
  const hidden = worst > 0 && (node.index === null || bandOf(bands, node.index) < worst);
  if (!hidden && node.inside === 0) return null;
  return { paint: `band-${worst}`, count: node.inside, hidden };
}

/** The colours that the strip over the whole run marks places with, the worst last. */
export function markPaints(coloring: Coloring, bands: readonly Band[]): Paint[] {
  if (coloring === "overflow") return LEVELS.slice(1);
  if (coloring === "status") return STATUSES.slice(STATUSES.indexOf("warning"));
  return bands.slice(1).map((_, i) => `band-${i + 1}`);
}

/**
 * The colour of the worst in a part of the run, and a node that has it. Where all is fine, that is
 * the grey of nodes without a partner; these can overflow too, and are not grey then.
 */
export function markOf(coloring: Coloring, bands: readonly Band[], bin: OverviewBin) {
  if (coloring === "overflow") return { paint: bin.overflow || NO_PAINT, id: bin.overflow_id };
  const mark =
    coloring === "status"
      ? { paint: bin.status || NO_PAINT, id: bin.status_id }
      : { paint: indexPaint(bands, bin.worst), id: bin.id };
  if (bin.unmatched === 0 || markPaints(coloring, bands).includes(mark.paint)) return mark;
  return { paint: "unmatched", id: bin.unmatched_id };
}
