/** What all lines of a tree have in common; a new one only when all of them look different. */

import type { Band, Side } from "../api/types";
import type { LevelWidths } from "../layout/nesting";
import { type Coloring, paintOf } from "../model/paint";
import type { OpenRow } from "../model/row_tree";

export class Look {
  constructor(
    /** The sides that a row shows. */
    readonly sides: readonly Side[],
    /** Pixels of a half, without what the levels take. */
    private readonly widths: Record<Side, number>,
    private readonly level: LevelWidths,
    private readonly rem: number,
    /** Outer levels that are not drawn. */
    readonly leftOut: number,
    readonly bands: readonly Band[],
    readonly coloring: Coloring,
    readonly language: string,
    /** One side of a comparison alone, as there is no room for both: gaps say what is missing. */
    readonly narrow: boolean,
    /** In a small window the name of a node goes before all else. */
    readonly nameFirst: boolean,
  ) {}

  same(other: Look): boolean {
    return this.leftOut === other.leftOut && this.sameButLevels(other);
  }

  /** Whether rows differ in how far they are set in at most. */
  sameButLevels(other: Look): boolean {
    return (
      this.sides === other.sides &&
      this.widths.t === other.widths.t &&
      this.widths.g === other.widths.g &&
      this.rem === other.rem &&
      this.bands === other.bands &&
      this.coloring === other.coloring &&
      this.language === other.language &&
      this.narrow === other.narrow &&
      this.nameFirst === other.nameFirst
    );
  }

  /** How far a row of a depth is set in, in pixels. */
  inset(depth: number): LevelWidths {
    const levels = Math.max(0, depth - this.leftOut);
    return { left: levels * this.level.left, right: levels * this.level.right };
  }

  /** The width of a row's box, in units of the text size. */
  boxWidth(depth: number, side: Side): number {
    const { left, right } = this.inset(depth);
    return (this.widths[side] - left - right) / this.rem;
  }

  /** The colour of the box around what is inside an open row, null for a gap. */
  framePaint(frame: OpenRow, side: Side): string | null {
    if ((side === "t" ? frame.target : frame.golden) < 0) return null;
    const brief = frame.parent?.row(frame.at)?.[side];
    return brief ? paintOf(this.coloring, this.bands, brief) : "none";
  }
}
