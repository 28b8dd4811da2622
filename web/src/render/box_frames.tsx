/** The boxes around what is inside of open rows: one element a box, however many lines it holds. */

import type { Side } from "../api/types";
import type { Frame } from "../layout/window";
import { ROW_UNITS } from "../model/row_tree";
import type { Look } from "./look";
import { ORIGIN_UNITS } from "./origin";

/** Pixels between the bottom of a box and the next line. */
const GAP_PX = 2;

/** Far behind what can be in sight. */
const MOST_UNITS = 4 * ORIGIN_UNITS;

/** Where frames are cut off moves by so much, as all are drawn anew then. */
const CLIP_UNITS = 32 * ROW_UNITS;

interface Props {
  frames: readonly Frame[];
  side: Side;
  look: Look;
  /** The unit that places are counted from, and pixels of one. */
  origin: number;
  unit: number;
  /** The units whose lines are drawn. */
  begin: number;
  end: number;
}

export function BoxFrames({ frames, side, look, origin, unit, begin, end }: Props) {
  // A frame keeps its size while one scrolls through it, so that it is not drawn anew. But the browser draws
  // thousands of pixels around what is in sight: it need not do so for frames far from all lines.
  const top = Math.floor((begin - origin) / CLIP_UNITS) * CLIP_UNITS * unit;
  const bottom = Math.ceil((end - origin) / CLIP_UNITS) * CLIP_UNITS * unit;
  const clip = `rect(${top}px, auto, ${bottom}px, auto)`;
  return (
    <div class={`frames ${side}`} aria-hidden="true" style={{ clip }}>
      {frames.map(({ row, ...frame }) => {
        const paint = row.depth > look.leftOut ? look.framePaint(row, side) : null;
        if (paint === null) return null;
        const { left, right } = look.inset(row.depth - 1);
        const top = Math.max(frame.begin - origin, -ROW_UNITS);
        const bottom = Math.min(frame.end - origin, MOST_UNITS);
        const height = Math.max(0, (bottom - top) * unit - GAP_PX);
        return (
          <i
            key={`${row.target}/${row.golden}`}
            style={{
              inset: `${top * unit}px ${right}px auto ${left}px`,
              height: `${height}px`,
              "--frame": `var(--frame-${paint})`,
              "--edge": `var(--edge-${paint})`,
            }}
          />
        );
      })}
    </div>
  );
}
