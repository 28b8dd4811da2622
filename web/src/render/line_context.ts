/** What all lines of a tree have in common while they are drawn once. */

import type { Band, Row, Side } from "../api/types";
import { levelsLeftOut, railsOf } from "../layout/rails";
import type { Line, RowLine } from "../layout/window";
import { type Coloring, paintOf } from "../model/paint";
import type { OpenRow } from "../model/row_tree";
import type { Spot } from "../state/graph_view";
import type { Selected } from "../state/navigation";

export class LineContext {
  readonly leftOut: number;
  private readonly railCache = new Map<OpenRow, Record<Side, { left: string; right: string }>>();

  constructor(
    lines: readonly Line[],
    readonly bands: readonly Band[],
    readonly coloring: Coloring,
    private readonly selected: Selected | null,
    private readonly prefix: string,
    readonly select: (spot: Spot, side: Side) => void,
  ) {
    this.leftOut = levelsLeftOut(lines.reduce((most, line) => Math.max(most, line.depth), 0));
  }

  rails(parent: OpenRow, side: Side): { left: string; right: string } {
    let rails = this.railCache.get(parent);
    if (rails === undefined) {
      const of = (one: Side) => railsOf(parent, one, this.leftOut, this.framePaint);
      rails = { t: of("t"), g: of("g") };
      this.railCache.set(parent, rails);
    }
    return rails[side];
  }

  private readonly framePaint = (frame: OpenRow, side: Side): string | null => {
    if ((side === "t" ? frame.target : frame.golden) < 0) return null;
    const brief = frame.parent?.row(frame.at)?.[side];
    return brief ? paintOf(this.coloring, this.bands, brief) : "none";
  };

  isSelected(row: Row): boolean {
    const { selected } = this;
    if (selected === null) return false;
    return (
      (row.t !== null && row.t.id === selected.t) || (row.g !== null && row.g.id === selected.g)
    );
  }

  /** Id of the element of a row. */
  idOf(line: RowLine): string {
    return `${this.prefix}-${line.parent.target}-${line.parent.golden}-${line.at}`;
  }
}
