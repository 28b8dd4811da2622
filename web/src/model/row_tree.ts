/**
 * The rows that a person has opened, as a tree that is loaded in pages.
 *
 * Only open rows are nodes of the tree; a closed row is one entry of its parent's pages. So the
 * memory depends on what was opened and looked at, not on the size of the graph.
 */

import type { Row } from "../api/types";

export const PAGE_ROWS = 100;

/** Heights in units: a row is four times as high as the line that closes an open row. */
export const ROW_UNITS = 4;
export const END_UNITS = 1;

/** An open row, or the root that holds the top rows. */
export class OpenRow {
  readonly pages = new Map<number, Row[]>();
  /** Open rows among the children, by their place. */
  readonly open = new Map<number, OpenRow>();
  /** Units between this row's own line and the line that closes it, everything open counted. */
  height: number;
  /** Places of the open children in order, and the units that all before them add. */
  private places: number[] | null = null;
  private added: number[] = [];

  constructor(
    readonly target: number,
    readonly golden: number,
    /** Number of rows directly inside. */
    readonly count: number,
    readonly parent: OpenRow | null,
    /** Place among the parent's rows. */
    readonly at: number,
    readonly depth: number,
  ) {
    this.height = count * ROW_UNITS;
  }

  /** The row at a place, if its page was loaded. */
  row(at: number): Row | undefined {
    return this.pages.get(Math.floor(at / PAGE_ROWS))?.[at % PAGE_ROWS];
  }

  /** Units that an open row takes besides its own line: what is inside, and the closing line. */
  static extra(child: OpenRow): number {
    return child.height + END_UNITS;
  }

  private index(): number[] {
    if (this.places === null) {
      this.places = [...this.open.keys()].sort((a, b) => a - b);
      this.added = [0];
      for (const place of this.places) {
        const child = this.open.get(place) as OpenRow;
        this.added.push((this.added[this.added.length - 1] as number) + OpenRow.extra(child));
      }
    }
    return this.places;
  }

  /** Where the row at a place begins, counted from the first line inside this one. */
  offsetOf(at: number): number {
    const places = this.index();
    let low = 0;
    let high = places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] as number) < at) low = middle + 1;
      else high = middle;
    }
    return at * ROW_UNITS + (this.added[low] as number);
  }

  /** The place whose lines hold the given unit (counted from the first line inside). */
  placeAt(unit: number): number {
    const places = this.index();
    const begin = (i: number) => (places[i] as number) * ROW_UNITS + (this.added[i] as number);
    let low = 0;
    let high = places.length;
    // The last open child that begins at or before the unit.
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begin(middle) <= unit) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return Math.min(Math.floor(unit / ROW_UNITS), this.count - 1);
    const place = places[low - 1] as number;
    const child = this.open.get(place) as OpenRow;
    const end = begin(low - 1) + ROW_UNITS + OpenRow.extra(child);
    if (unit < end) return place;
    return Math.min(place + 1 + Math.floor((unit - end) / ROW_UNITS), this.count - 1);
  }

  /** Tells this row and all around it that so many units were added inside. */
  grow(units: number): void {
    for (let row: OpenRow | null = this; row !== null; row = row.parent) {
      row.height += units;
      row.places = null;
    }
  }
}

/** The tree of one view: both sides together, or one side alone. */
export class RowTree {
  readonly root: OpenRow;

  constructor(target: number, golden: number, count: number) {
    this.root = new OpenRow(target, golden, count, null, 0, 0);
  }

  get height(): number {
    return this.root.height;
  }

  /** Opens the row at a place; returns it, also when it was open. Leaves cannot be opened. */
  open(parent: OpenRow, at: number, target: number, golden: number, count: number): OpenRow | null {
    const existing = parent.open.get(at);
    if (existing !== undefined) return existing;
    if (count === 0) return null;
    const row = new OpenRow(target, golden, count, parent, at, parent.depth + 1);
    parent.open.set(at, row);
    parent.grow(OpenRow.extra(row));
    return row;
  }

  close(parent: OpenRow, at: number): void {
    const row = parent.open.get(at);
    if (row === undefined) return;
    parent.open.delete(at);
    parent.grow(-OpenRow.extra(row));
  }

  /** Where the row at a place begins, in units from the top. */
  offsetOf(parent: OpenRow, at: number): number {
    let offset = parent.offsetOf(at);
    for (let row = parent; row.parent !== null; row = row.parent) {
      offset += row.parent.offsetOf(row.at) + ROW_UNITS;
    }
    return offset;
  }

  /** Forgets loaded pages that are far from the given lines, once there are too many of them. */
  trim(keep: Set<OpenRow>, maxPages: number): void {
    const all: { row: OpenRow; page: number }[] = [];
    const visit = [this.root];
    for (let row = visit.pop(); row !== undefined; row = visit.pop()) {
      for (const page of row.pages.keys()) all.push({ row, page });
      visit.push(...row.open.values());
    }
    for (const { row, page } of all) {
      if (all.length - maxPages <= 0) break;
      if (keep.has(row)) continue;
      row.pages.delete(page);
      all.length -= 1;
    }
  }
}
