/** One scrolling tree: what is open in it, what of it is loaded, and where it stands. */

import { signal } from "@preact/signals";
import type { NodeRef, Source, UnitRef } from "../api/source";
import { GAP, type PathStep, type Row, type Side } from "../api/types";
import { MAX_LEVELS } from "../layout/rails";
import { type Line, linesInSight, type MissingPage, type RowLine } from "../layout/window";
import { END_UNITS, type OpenRow, PAGE_ROWS, ROW_UNITS, RowTree } from "../model/row_tree";
import { ask, isAbort } from "./connection";

const MAX_PAGES = 600;
const TOP_PAGE = 1000;

/** Both sides face to face, or one alone. */
export type Sides = "both" | Side;

/** A row and its place. */
export interface Spot {
  parent: OpenRow;
  at: number;
}

let made = 0;

export class GraphView {
  /** Tells views apart, also those of the same unit. */
  readonly key = made++;
  /** Changes when the tree or its pages change. */
  readonly version = signal(0);
  readonly error = signal<unknown>(null);
  readonly cursor = signal<Spot | null>(null);
  /** A row that is to be brought into sight; the drawing takes it. */
  readonly wanted = signal<{ offset: number; center: boolean } | null>(null);
  tree: RowTree;
  /** The lines that the drawing shows at the moment. */
  readonly shown = signal<readonly Line[]>([]);
  private readonly asked = new Map<string, AbortController>();
  /** Pages that the server refused: asking again at once would go on for ever. */
  private readonly refused = new Set<string>();
  private loads = 0;

  constructor(
    private readonly source: Source,
    readonly unit: UnitRef,
    readonly sides: Sides,
    private readonly micro: number | null,
    comparison: boolean,
  ) {
    this.tree = new RowTree(sides === "g" ? GAP : 0, sides === "t" || !comparison ? GAP : 0, 0);
  }

  /** Loads the top rows. */
  async start(): Promise<void> {
    const { target, golden } = this.tree.root;
    const page = await ask(() => this.rows(this.tree.root, 0, PAGE_ROWS));
    this.tree = new RowTree(target, golden, page.total);
    this.tree.root.pages.set(0, page.rows);
    this.version.value += 1;
  }

  private rows(row: OpenRow, offset: number, limit: number, signal?: AbortSignal) {
    const micro = row.parent === null ? this.micro : null;
    return this.source.rows(this.unit, row.target, row.golden, offset, limit, micro, signal);
  }

  /** Lines in the units [begin, end), and asks for what of them is not there. */
  window(begin: number, end: number): Line[] {
    const window = linesInSight(this.tree.root, begin, end);
    this.need([...window.missing, ...missingAround(window.lines)]);
    if (this.loads > MAX_PAGES) {
      this.tree.trim(window.touched, MAX_PAGES / 2);
      this.loads = MAX_PAGES / 2;
    }
    return window.lines;
  }

  private need(missing: readonly MissingPage[]): void {
    const wanted = new Set<string>();
    for (const { parent, page } of missing) {
      const key = `${parent.target}/${parent.golden}/${page}`;
      wanted.add(key);
      if (!this.asked.has(key) && !this.refused.has(key)) void this.fetch(key, parent, page);
    }
    for (const [key, stop] of this.asked) {
      if (!wanted.has(key)) stop.abort();
    }
  }

  private async fetch(key: string, parent: OpenRow, page: number): Promise<void> {
    const stop = new AbortController();
    this.asked.set(key, stop);
    try {
      const offset = page * PAGE_ROWS;
      const answer = await ask(
        () => this.rows(parent, offset, PAGE_ROWS, stop.signal),
        stop.signal,
      );
      parent.pages.set(page, answer.rows);
      this.loads += 1;
    } catch (error) {
      if (!isAbort(error)) {
        this.refused.add(key);
        this.error.value = error;
      }
    } finally {
      if (this.asked.get(key) === stop) this.asked.delete(key);
      this.version.value += 1;
    }
  }

  toggle(spot: Spot): void {
    if (spot.parent.open.has(spot.at)) this.close(spot);
    else this.open(spot);
  }

  open({ parent, at }: Spot): boolean {
    const row = parent.row(at);
    if (row === undefined || row.n === 0) return false;
    this.tree.open(parent, at, row.t?.id ?? GAP, row.g?.id ?? GAP, row.n);
    this.version.value += 1;
    return true;
  }

  close(spot: Spot): void {
    const inner = spot.parent.open.get(spot.at);
    if (inner === undefined) return;
    for (let row = this.cursor.value?.parent ?? null; row !== null; row = row.parent) {
      if (row === inner) this.cursor.value = spot;
    }
    this.tree.close(spot.parent, spot.at);
    this.version.value += 1;
  }

  closeAll(): void {
    for (const at of [...this.tree.root.open.keys()]) this.close({ parent: this.tree.root, at });
  }

  /** Opens all rows on one level: the siblings of a row. */
  openSiblings({ parent }: Spot): void {
    for (const rows of parent.pages.keys()) {
      for (let i = 0; i < PAGE_ROWS; i += 1) this.open({ parent, at: rows * PAGE_ROWS + i });
    }
  }

  /** The row at a place, loaded if needed. */
  async row({ parent, at }: Spot): Promise<Row | undefined> {
    if (parent.row(at) === undefined) {
      const page = Math.floor(at / PAGE_ROWS);
      const answer = await ask(() => this.rows(parent, page * PAGE_ROWS, PAGE_ROWS));
      parent.pages.set(page, answer.rows);
      this.loads += 1;
      this.version.value += 1;
    }
    return parent.row(at);
  }

  /** Opens all around a node and brings it into sight; null if it is not in this view. */
  async reveal(node: NodeRef, signal?: AbortSignal): Promise<Spot | null> {
    const alone = this.sides !== "both";
    const path = await ask(() => this.source.path(this.unit, node, alone, signal), signal);
    let steps: PathStep[] = path.rows;
    if (this.micro !== null) steps = await this.inMicroStep(steps, signal);
    let parent = this.tree.root;
    for (const [i, step] of steps.slice(0, -1).entries()) {
      const inside = steps[i + 1]?.total ?? 0;
      const opened = this.tree.open(parent, step.at, step.t, step.g, inside);
      if (opened === null) return null;
      parent = opened;
    }
    const last = steps.at(-1);
    if (last === undefined) return null;
    const spot = { parent, at: last.at };
    this.version.value += 1;
    this.putCursor(spot, true);
    return spot;
  }

  /** The same path with the place of its first row among the rows of the micro step. */
  private async inMicroStep(path: PathStep[], signal?: AbortSignal): Promise<PathStep[]> {
    const first = path[0];
    if (first === undefined) return path;
    const { root } = this.tree;
    for (let offset = 0; offset < root.count; offset += TOP_PAGE) {
      const page = await ask(() => this.rows(root, offset, TOP_PAGE, signal), signal);
      const at = page.rows.findIndex(
        (row) => (row.t?.id ?? GAP) === first.t && (row.g?.id ?? GAP) === first.g,
      );
      if (at >= 0) return [{ ...first, at: offset + at, total: page.total }, ...path.slice(1)];
    }
    return [];
  }

  putCursor(spot: Spot, center = false): void {
    this.cursor.value = spot;
    this.wanted.value = { offset: this.tree.offsetOf(spot.parent, spot.at), center };
  }

  /** The row so many rows away from another (closing lines do not count). */
  neighbour(spot: Spot, rows: number): Spot {
    const down = rows > 0;
    let line = linesInSight(this.tree.root, ...span(this.tree.offsetOf(spot.parent, spot.at)))
      .lines[0];
    let found = spot;
    for (let left = Math.abs(rows); left > 0 && line !== undefined; ) {
      const height: number = line.kind === "end" ? END_UNITS : ROW_UNITS;
      const next: number = down ? line.offset + height : line.offset - 1;
      if (next < 0) break;
      line = linesInSight(this.tree.root, ...span(next)).lines[0];
      if (line === undefined || line.kind === "end") continue;
      found = { parent: line.parent, at: line.at };
      left -= 1;
    }
    return found;
  }

  /** First or last row of the tree. */
  end(last: boolean): Spot | null {
    const { root } = this.tree;
    if (root.count === 0) return null;
    return last
      ? this.neighbour({ parent: root, at: root.count - 1 }, root.height)
      : { parent: root, at: 0 };
  }

  /** Rows around what stands at a unit, the outermost first. */
  around(unit: number): Spot[] {
    const first = linesInSight(this.tree.root, ...span(unit)).lines[0];
    const spots: Spot[] = [];
    for (let row = first?.parent ?? null; row?.parent != null; row = row.parent) {
      spots.push({ parent: row.parent, at: row.at });
    }
    return spots.reverse();
  }

  dispose(): void {
    for (const stop of this.asked.values()) stop.abort();
  }
}

function span(unit: number): [number, number] {
  return [unit, unit + 1];
}

/** The pages of the boxes around the first line, whose names and colours are drawn. */
function missingAround(lines: readonly Line[]): MissingPage[] {
  const missing: MissingPage[] = [];
  let row = lines[0]?.parent ?? null;
  for (let level = 0; level <= MAX_LEVELS && row !== null && row.parent !== null; level += 1) {
    if (row.parent.row(row.at) === undefined) {
      missing.push({ parent: row.parent, page: Math.floor(row.at / PAGE_ROWS) });
    }
    row = row.parent;
  }
  return missing;
}

export function isRow(line: Line): line is RowLine {
  return line.kind === "row";
}

export function sameSpot(a: Spot | null, b: Spot | null): boolean {
  return a !== null && b !== null && a.parent === b.parent && a.at === b.at;
}
