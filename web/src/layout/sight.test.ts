import { describe, expect, it } from "vitest";
import type { Brief, Row } from "../api/types";
import { RowTree } from "../model/row_tree";
import { ordersInSight } from "./sight";
import { linesInSight } from "./window";

/** Rows whose target nodes have these orders; null: a gap. */
function treeOf(orders: (number | null)[]): RowTree {
  const tree = new RowTree(0, 0, orders.length);
  const rows = orders.map(
    (order): Row => ({
      ...{ n: 0, index: null, g: null },
      t: order === null ? null : ({ order } as Brief),
    }),
  );
  tree.root.pages.set(0, rows);
  return tree;
}

const NODES = 100;

/** The window is drawn further than it is seen. */
function sight(tree: RowTree, begin: number, end: number, drawn = tree.height) {
  const { lines } = linesInSight(tree.root, 0, drawn);
  return ordersInSight(lines, "t", { begin, end, height: tree.height }, NODES);
}

describe("ordersInSight", () => {
  const tree = treeOf([0, 10, 20, null, 90]);

  it("counts rows that reach into sight, not those drawn around it", () => {
    expect(sight(tree, 4, 8)).toEqual({ begin: 10, end: 20 });
    expect(sight(tree, 7, 9)).toEqual({ begin: 10, end: 90 });
    expect(sight(tree, 0, 4)).toEqual({ begin: 0, end: 10 });
  });

  it("counts what is inside of the last row, up to the end of the run", () => {
    expect(sight(tree, 8, 16)).toEqual({ begin: 20, end: 90 });
    expect(sight(tree, 16, 20)).toEqual({ begin: 90, end: NODES });
    expect(sight(treeOf([0, 40, null]), 0, 8)).toEqual({ begin: 0, end: NODES });
  });

  it("says no more than it knows where the rows below have not come", () => {
    expect(sight(tree, 0, 8, 8)).toEqual({ begin: 0, end: 11 });
    expect(sight(tree, 12, 16)).toBeNull();
    expect(sight(treeOf([null]), 0, 4)).toBeNull();
  });
});
