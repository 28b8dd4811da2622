/** Which lines are in sight: the part of the open tree between two lines, nothing else touched. */

import type { Row } from "../api/types";
import { END_UNITS, type OpenRow, PAGE_ROWS, ROW_UNITS } from "../model/row_tree";

export interface RowLine {
  kind: "row";
  /** Where it begins, in units from the top. */
  offset: number;
  depth: number;
  parent: OpenRow;
  at: number;
  /** Undefined until its page has come. */
  row: Row | undefined;
  open: boolean;
}

/** The line that closes an open row. */
export interface EndLine {
  kind: "end";
  offset: number;
  depth: number;
  parent: OpenRow;
  at: number;
  row: Row | undefined;
}

export type Line = RowLine | EndLine;

/** The box around what is inside an open row: from its first line to its closing line. */
export interface Frame {
  row: OpenRow;
  /** In units from the top, whatever of it is in sight. */
  begin: number;
  end: number;
}

export interface MissingPage {
  parent: OpenRow;
  page: number;
}

export interface Window {
  lines: Line[];
  /** Boxes that reach into the window, the outer ones before those in them. */
  frames: Frame[];
  missing: MissingPage[];
  /** Open rows whose inside reaches into the window. */
  touched: Set<OpenRow>;
}

interface Cursor {
  parent: OpenRow;
  at: number;
  /** Where the row at `at` begins, in units from the top. */
  offset: number;
}

/** Lines that reach into the units [begin, end). Depth is no recursion, so any depth works. */
export function linesInSight(root: OpenRow, begin: number, end: number): Window {
  const window: Window = { lines: [], frames: [], missing: [], touched: new Set() };
  if (root.count === 0 || end <= begin) return window;
  const stack = descend(root, Math.max(0, begin), window.frames);
  const asked = new Set<string>();
  while (stack.length > 0) {
    const cursor = stack[stack.length - 1] as Cursor;
    const { parent } = cursor;
    window.touched.add(parent);
    if (cursor.offset >= end) break;
    if (cursor.at >= parent.count) {
      stack.pop();
      closeParent(stack, begin, end, window);
      continue;
    }
    const child = parent.open.get(cursor.at);
    if (cursor.offset + ROW_UNITS > begin) emitRow(cursor, child !== undefined, window, asked);
    if (child !== undefined) {
      const inside = cursor.offset + ROW_UNITS;
      if (inside < end) window.frames.push(frameOf(child, inside));
      stack.push({ parent: child, at: 0, offset: inside });
    } else {
      cursor.at += 1;
      cursor.offset += ROW_UNITS;
    }
  }
  return window;
}

function frameOf(row: OpenRow, begin: number): Frame {
  return { row, begin, end: begin + row.height + END_UNITS };
}

/** The chain of rows around a unit, so that walking can start there. */
function descend(root: OpenRow, unit: number, frames: Frame[]): Cursor[] {
  const stack: Cursor[] = [];
  let parent: OpenRow | undefined = root;
  let base = 0;
  while (parent !== undefined) {
    const at = parent.placeAt(unit - base);
    const own = base + parent.offsetOf(at);
    stack.push({ parent, at, offset: own });
    const child: OpenRow | undefined = parent.open.get(at);
    base = own + ROW_UNITS;
    if (child !== undefined && unit >= base) frames.push(frameOf(child, base));
    if (child !== undefined && unit >= base + child.height) {
      // The closing line of an open row: start behind its last child.
      stack.push({ parent: child, at: child.count, offset: base + child.height });
      return stack;
    }
    parent = unit >= base ? child : undefined;
  }
  return stack;
}

function closeParent(stack: Cursor[], begin: number, end: number, window: Window): void {
  const outer = stack[stack.length - 1];
  if (outer === undefined) return;
  const { parent, at } = outer;
  const offset = outer.offset + ROW_UNITS + (parent.open.get(at)?.height ?? 0);
  if (offset + END_UNITS > begin && offset < end) {
    window.lines.push({
      kind: "end",
      offset,
      depth: parent.depth,
      parent,
      at,
      row: parent.row(at),
    });
  }
  outer.at += 1;
  outer.offset = offset + END_UNITS;
}

function emitRow(cursor: Cursor, open: boolean, window: Window, asked: Set<string>): void {
  const { parent, at, offset } = cursor;
  const row = parent.row(at);
  if (row === undefined) {
    const page = Math.floor(at / PAGE_ROWS);
    const key = `${parent.target}/${parent.golden}/${page}`;
    if (!asked.has(key)) {
      asked.add(key);
      window.missing.push({ parent, page });
    }
  }
  window.lines.push({ kind: "row", offset, depth: parent.depth, parent, at, row, open });
}
