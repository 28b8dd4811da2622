import { describe, expect, it } from "vitest";
import { END_UNITS, ROW_UNITS, RowTree } from "../model/row_tree";
import { type Line, linesInSight } from "./window";

/** Line as offset:depth.place, closing lines with a slash. */
const text = (line: Line) =>
  `${line.offset}:${line.kind === "end" ? "/" : ""}${line.depth}.${line.at}`;
const heightOf = (line: Line) => (line.kind === "end" ? END_UNITS : ROW_UNITS);

function everyLine(tree: RowTree): Line[] {
  return linesInSight(tree.root, 0, tree.height).lines;
}

describe("linesInSight", () => {
  it("shows the top rows of a closed tree", () => {
    expect(everyLine(new RowTree(0, 0, 3)).map(text)).toEqual(["0:0.0", "4:0.1", "8:0.2"]);
  });

  it("puts the inside of an open row between its line and its closing line", () => {
    const tree = new RowTree(0, 0, 3);
    const inner = tree.open(tree.root, 1, 5, 5, 2);
    expect(inner).not.toBeNull();
    expect(everyLine(tree).map(text)).toEqual([
      "0:0.0",
      "4:0.1",
      "8:1.0",
      "12:1.1",
      "16:/0.1",
      "17:0.2",
    ]);
    tree.close(tree.root, 1);
    expect(tree.height).toBe(12);
  });

  it("gives for every window the same lines as the whole", () => {
    let seed = 7;
    const random = (n: number) => {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff;
      return seed % n;
    };
    for (let round = 0; round < 60; round += 1) {
      const tree = new RowTree(0, 0, 1 + random(6));
      const rows = [tree.root];
      for (let i = 0; i < 12; i += 1) {
        const parent = rows[random(rows.length)] as (typeof rows)[0];
        const opened = tree.open(parent, random(parent.count), i, i, 1 + random(4));
        if (opened !== null) rows.push(opened);
      }
      const all = everyLine(tree);
      let offset = 0;
      for (const line of all) {
        expect(line.offset).toBe(offset);
        offset += heightOf(line);
      }
      expect(offset).toBe(tree.height);
      for (let begin = 0; begin < tree.height; begin += 1) {
        const end = begin + 1 + random(15);
        const expected = all.filter(
          (line) => line.offset + heightOf(line) > begin && line.offset < end,
        );
        expect(linesInSight(tree.root, begin, end).lines.map(text)).toEqual(expected.map(text));
      }
      for (const row of rows.slice(1)) {
        if (row.parent?.open.get(row.at) !== row) continue;
        const at = tree.offsetOf(row.parent, row.at);
        expect(all.map(text)).toContain(`${at}:${row.parent.depth}.${row.at}`);
      }
    }
  });

  it("gives the boxes that reach into a window, the outer ones first", () => {
    const tree = new RowTree(0, 0, 3);
    const outer = tree.open(tree.root, 1, 5, 5, 3);
    const inner = outer === null ? null : tree.open(outer, 1, 6, 6, 2);
    expect(inner).not.toBeNull();
    const boxes = (begin: number, end: number) =>
      linesInSight(tree.root, begin, end).frames.map(
        (frame) => `${frame.row.target}:${frame.begin}-${frame.end}`,
      );
    // 4: the outer row, 8: its inside, 12: the inner row, 16 to 24: its inside, 25: the last row.
    expect(boxes(0, tree.height)).toEqual(["5:8-30", "6:16-25"]);
    expect(boxes(0, 8)).toEqual([]);
    expect(boxes(8, 16)).toEqual(["5:8-30"]);
    expect(boxes(20, 21)).toEqual(["5:8-30", "6:16-25"]);
    expect(boxes(24, 25)).toEqual(["5:8-30", "6:16-25"]);
    expect(boxes(26, 28)).toEqual(["5:8-30"]);
  });

  it("needs no recursion for a depth of 4,000", () => {
    const depth = 4_000;
    const tree = new RowTree(0, 0, 1);
    let row = tree.root;
    for (let at = 0; at < depth; at += 1) row = tree.open(row, 0, at, at, 1) ?? row;
    expect(tree.height).toBe((depth + 1) * ROW_UNITS + depth * END_UNITS);
    const bottom = depth * ROW_UNITS;
    expect(linesInSight(tree.root, bottom - 1, bottom + 6).lines.map(text)).toEqual([
      `${bottom - 4}:${depth - 1}.0`,
      `${bottom}:${depth}.0`,
      `${bottom + 4}:/${depth - 1}.0`,
      `${bottom + 5}:/${depth - 2}.0`,
    ]);
  });

  it("asks for the pages that are in sight and not there", () => {
    const tree = new RowTree(0, 0, 10_000);
    const window = linesInSight(tree.root, 4990 * ROW_UNITS, 5010 * ROW_UNITS);
    expect(window.missing.map((page) => page.page)).toEqual([49, 50]);
  });

  it("costs nothing for the millions of rows out of sight", () => {
    const tree = new RowTree(0, 0, 1000);
    for (let at = 0; at < 1000; at += 1) tree.open(tree.root, at, at, at, 1000);
    expect(tree.height).toBe(1000 * (1000 * ROW_UNITS + ROW_UNITS + END_UNITS));
    const middle = Math.floor(tree.height / 2);
    expect(linesInSight(tree.root, middle, middle + 40).lines.length).toBeLessThan(15);
  });
});
