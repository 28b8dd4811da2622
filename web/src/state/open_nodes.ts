/** Which nodes are open in the trees of a unit, so that other trees of it can open them as well. */

import { GAP, type Row } from "../api/types";
import type { OpenRow } from "../model/row_tree";

/** Open nodes by the node around them. */
type Inside = Map<number, Set<number>>;

export class OpenNodes {
  private readonly targets: Inside = new Map();
  private readonly goldens: Inside = new Map();

  constructor(roots: readonly OpenRow[]) {
    const visit = [...roots];
    for (let around = visit.pop(); around !== undefined; around = visit.pop()) {
      for (const row of around.open.values()) {
        add(this.targets, around.target, row.target);
        add(this.goldens, around.golden, row.golden);
        visit.push(row);
      }
    }
  }

  /** What is to be found among the rows inside of a row. */
  inside({ target, golden }: OpenRow): Wanted {
    return new Wanted(this.targets.get(target), this.goldens.get(golden));
  }
}

class Wanted {
  private readonly targets: Set<number>;
  private readonly goldens: Set<number>;

  constructor(targets?: ReadonlySet<number>, goldens?: ReadonlySet<number>) {
    this.targets = new Set(targets);
    this.goldens = new Set(goldens);
  }

  get any(): boolean {
    return this.targets.size + this.goldens.size > 0;
  }

  /** Whether a node of the row was open; it is not wanted any more. */
  take({ t, g }: Row): boolean {
    const target = t !== null && this.targets.delete(t.id);
    const golden = g !== null && this.goldens.delete(g.id);
    return target || golden;
  }
}

function add(inside: Inside, around: number, id: number): void {
  if (around === GAP || id === GAP) return;
  const siblings = inside.get(around);
  if (siblings === undefined) inside.set(around, new Set([id]));
  else siblings.add(id);
}
