/** The boxes around a line: each open row around it is a frame, drawn left and right of it. */

import type { Side } from "../api/types";
import type { OpenRow } from "../model/row_tree";

/** Width of a frame: whole pixels, or its edges would blur and not meet from line to line. */
export function levelWidth(levels: number, edge: "left" | "right"): string {
  return `calc(${levels} * var(--step-${edge}))`;
}

/** Both widths for a text of so many pixels. */
export function stepWidths(rem: number): Record<string, string> {
  const left = Math.round(rem * 0.8);
  const right = Math.max(2, Math.round(rem * 0.3));
  return { "--step-left": `${left}px`, "--step-right": `${right}px` };
}

/** More levels than this do not fit beside each other: the outer ones are left out. */
export const MAX_LEVELS = 14;

/** How many outer levels a window leaves out, given its deepest line. */
export function levelsLeftOut(deepest: number): number {
  return Math.max(0, deepest - MAX_LEVELS);
}

/** Fill and edge of the frame of an open row, null for a gap. */
export type FramePaint = (frame: OpenRow, side: Side) => string | null;

/** Two backgrounds, one for each edge of the line, from the outermost frame to the innermost. */
export function railsOf(
  parent: OpenRow,
  side: Side,
  leftOut: number,
  paint: FramePaint,
): { left: string; right: string } {
  const frames: OpenRow[] = [];
  for (let row = parent; row.parent !== null && row.depth > leftOut; row = row.parent) {
    frames.push(row);
  }
  frames.reverse();
  return {
    left: gradient(frames, side, paint, 90, "left"),
    right: gradient(frames, side, paint, 270, "right"),
  };
}

function gradient(
  frames: readonly OpenRow[],
  side: Side,
  paint: FramePaint,
  angle: number,
  edge: "left" | "right",
): string {
  if (frames.length === 0) return "none";
  const stops = frames.map((frame, i) => {
    const name = paint(frame, side);
    const begin = levelWidth(i, edge);
    const end = levelWidth(i + 1, edge);
    if (name === null) return `transparent ${begin} ${end}`;
    const inner = `calc(${begin} + 1px)`;
    return `var(--edge-${name}) ${begin} ${inner}, var(--frame-${name}) ${inner} ${end}`;
  });
  return `linear-gradient(${angle}deg, ${stops.join(", ")})`;
}
