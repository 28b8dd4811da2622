/** The boxes around what is inside of open rows: one element a box, however many lines it holds. */

import type { Side } from "../api/types";
import type { Frame } from "../layout/window";
import { ROW_UNITS } from "../model/row_tree";
import type { Look } from "./look";

/** Pixels between the bottom of a box and the next line. */
const GAP_PX = 2;

interface Props {
  frames: readonly Frame[];
  side: Side;
  look: Look;
  /** The units that are drawn, and pixels of one. */
  begin: number;
  end: number;
  unit: number;
}

export function BoxFrames({ frames, side, look, begin, end, unit }: Props) {
  return (
    <div class={`frames ${side}`} aria-hidden="true">
      {frames.map(({ row, ...frame }) => {
        const paint = row.depth > look.leftOut ? look.framePaint(row, side) : null;
        if (paint === null) return null;
        const { left, right } = look.inset(row.depth - 1);
        const top = Math.max(frame.begin, begin - ROW_UNITS) - begin;
        const bottom = Math.min(frame.end, end + 2 * ROW_UNITS) - begin;
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
