import { describe, expect, it } from "vitest";
import { RowTree } from "../model/row_tree";
import { levelsLeftOut, MAX_LEVELS, railsOf } from "./rails";

describe("railsOf", () => {
  it("draws the frames from the outermost to the innermost, gaps stay empty", () => {
    const tree = new RowTree(0, 0, 1);
    const outer = tree.open(tree.root, 0, 1, 1, 2);
    const inner = outer === null ? null : tree.open(outer, 1, 2, -1, 2);
    expect(inner).not.toBeNull();
    if (inner === null) return;
    const paint = (frame: { golden: number }) => (frame.golden < 0 ? null : "band-4");
    const { left, right } = railsOf(inner, "g", 0, paint);
    expect(left).toBe(
      "linear-gradient(90deg, var(--edge-band-4) calc(0 * var(--step-left)) " +
        "calc(calc(0 * var(--step-left)) + 1px), var(--frame-band-4) " +
        "calc(calc(0 * var(--step-left)) + 1px) calc(1 * var(--step-left)), " +
        "transparent calc(1 * var(--step-left)) calc(2 * var(--step-left)))",
    );
    expect(right.startsWith("linear-gradient(270deg")).toBe(true);
    expect(railsOf(tree.root, "g", 0, paint).left).toBe("none");
  });

  it("leaves out outer frames where the tree is very deep", () => {
    const tree = new RowTree(0, 0, 1);
    let row = tree.root;
    for (let depth = 0; depth < 400; depth += 1) row = tree.open(row, 0, 1, 1, 1) ?? row;
    const leftOut = levelsLeftOut(row.depth);
    const { left } = railsOf(row, "t", leftOut, () => "none");
    expect(left.split("--frame-").length - 1).toBe(MAX_LEVELS);
    expect(levelsLeftOut(3)).toBe(0);
  });
});
