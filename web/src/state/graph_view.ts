/** One scrolling tree: what is open in it, what of it is loaded, and where it stands. */

import { signal } from "@preact/signals";
import type { NodeRef, PathOptions, Source, UnitRef } from "../api/source";
import { GAP, type NodePath, type PathStep, type Row, type Side } from "../api/types";
import { MAX_LEVELS } from "../layout/nesting";
import {
  type Line,
  linesInSight,
  type MissingPage,
  type RowLine,
  type Window,
} from "../layout/window";
import { END_UNITS, type OpenRow, PAGE_ROWS, ROW_UNITS, RowTree } from "../model/row_tree";
import { ask, isAbort } from "./connection";
import type { OpenNodes } from "./open_nodes";
import { RowsAhead } from "./rows_ahead";

const MAX_PAGES = 600;
const TOP_PAGE = 1000;
/** Questions at a time while a tree is made anew; there may be two trees. */
const TOGETHER = 2;
/** Rows are asked for so far ahead that they are there when they are drawn, and drawn once. */
const AHEAD_UNITS = 24 * ROW_UNITS;

/** Both sides face to face, or one alone. */
export type Sides = "both" | Side;

/** A row and its place. */
export interface Spot {
  parent: OpenRow;
  at: number;
}

type LoadedPage = MissingPage & { rows: Row[] };

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
  /** The units that can be seen: lines are drawn beyond them. */
  readonly sight = signal({ begin: 0, end: 0 });
  private readonly asked = new Map<string, AbortController>();
  /** Pages that the server refused: asking again at once would go on for ever. */
  private readonly refused = new Set<string>();
  private readonly ahead: RowsAhead;
  private loads = 0;

  constructor(
    private readonly source: Source,
    readonly unit: UnitRef,
    readonly sides: Sides,
    readonly micro: number | null,
    comparison: boolean,
  ) {
    this.tree = new RowTree(sides === "g" ? GAP : 0, sides === "t" || !comparison ? GAP : 0, 0);
    this.ahead = new RowsAhead((of, stopped) => source.inside(unit, of, PAGE_ROWS, stopped));
  }

  /** How paths to nodes of this view are asked for. */
  get pathOptions(): PathOptions {
    return { alone: this.sides !== "both", page: PAGE_ROWS };
  }

  /** Loads the top rows. */
  async start(stop?: AbortSignal): Promise<void> {
    const { target, golden } = this.tree.root;
    const page = await ask(() => this.rows(this.tree.root, 0, PAGE_ROWS, stop), stop);
    this.tree = new RowTree(target, golden, page.total);
    this.tree.root.pages.set(0, page.rows);
    this.version.value += 1;
  }

  /**
   * Opens what was open in other trees of the unit: a pair, if either of its nodes was. What is far
   * behind among many rows stays closed.
   */
  async openAgain(nodes: OpenNodes, stop: AbortSignal): Promise<void> {
    const left = { pages: MAX_PAGES };
    for (let level = [this.tree.root]; level.length > 0; ) {
      const next: OpenRow[] = [];
      const rows = level.values();
      const openSome = async () => {
        for (const row of rows) next.push(...(await this.openInside(row, nodes, left, stop)));
      };
      await Promise.all(Array.from({ length: TOGETHER }, openSome));
      level = next;
    }
    this.version.value += 1;
  }

  private async openInside(
    parent: OpenRow,
    nodes: OpenNodes,
    left: { pages: number },
    stop: AbortSignal,
  ): Promise<OpenRow[]> {
    const wanted = nodes.inside(parent);
    const opened: OpenRow[] = [];
    for (let offset = 0; wanted.any && offset < parent.count && left.pages > 0; ) {
      const { rows } = await ask(() => this.rows(parent, offset, TOP_PAGE, stop), stop);
      stop.throwIfAborted();
      for (let begin = 0; begin < rows.length; begin += PAGE_ROWS) {
        const page = rows.slice(begin, begin + PAGE_ROWS);
        const inner = page.flatMap((row, i) => {
          if (!wanted.take(row)) return [];
          const { t, g, n } = row;
          return this.tree.open(parent, offset + begin + i, t?.id ?? GAP, g?.id ?? GAP, n) ?? [];
        });
        left.pages -= 1;
        if (inner.length === 0) continue;
        opened.push(...inner);
        parent.pages.set((offset + begin) / PAGE_ROWS, page);
        this.loads += 1;
      }
      offset += TOP_PAGE;
    }
    return opened;
  }

  private rows(row: OpenRow, offset: number, limit: number, signal?: AbortSignal) {
    const micro = row.parent === null ? this.micro : null;
    return this.source.rows(this.unit, row.target, row.golden, offset, limit, micro, signal);
  }

  /** What stands in the units [begin, end); asks for what of it is not there. */
  window(begin: number, end: number): Window {
    const window = linesInSight(this.tree.root, begin, end);
    const wider = linesInSight(this.tree.root, begin - AHEAD_UNITS, end + AHEAD_UNITS);
    this.need([...window.missing, ...missingAround(window.lines), ...wider.missing]);
    this.ahead.want(window.lines);
    if (this.loads > MAX_PAGES) {
      this.tree.trim(wider.touched, MAX_PAGES / 2);
      this.loads = MAX_PAGES / 2;
    }
    return window;
  }

  private need(missing: readonly MissingPage[]): void {
    const wanted = new Set<AbortController>();
    const heads: MissingPage[] = [];
    for (const [key, one] of new Map(missing.map((one) => [keyOf(one), one]))) {
      const asked = this.asked.get(key);
      if (asked !== undefined) wanted.add(asked);
      if (asked !== undefined || this.refused.has(key)) continue;
      // The top rows may be those of a micro step, which only 'rows' knows.
      if (one.page === 0 && one.parent.parent !== null) heads.push(one);
      else wanted.add(this.fetch(one));
    }
    const single = heads.length === 1 ? heads[0] : undefined;
    if (single !== undefined) wanted.add(this.fetch(single));
    else if (heads.length > 1) wanted.add(this.fetchHeads(heads));
    for (const stop of new Set(this.asked.values())) {
      if (!wanted.has(stop)) stop.abort();
    }
  }

  /** Asks for a page; answers what stops that. */
  private fetch(one: MissingPage): AbortController {
    return this.ask([one], async (stop) => [await this.page(one, stop)]);
  }

  private async page(one: MissingPage, stop: AbortSignal): Promise<LoadedPage> {
    const { rows } = await this.rows(one.parent, one.page * PAGE_ROWS, PAGE_ROWS, stop);
    return { ...one, rows };
  }

  /** The first pages of many rows in one question: at a great depth each line in sight needs one. */
  private fetchHeads(heads: readonly MissingPage[]): AbortController {
    const byIds = new Map(heads.map((one) => [`${one.parent.target}.${one.parent.golden}`, one]));
    const of = heads.map(({ parent }) => [parent.target, parent.golden] as const);
    return this.ask(heads, async (stop) => {
      const found = await this.source.inside(this.unit, of, PAGE_ROWS, stop);
      const pages = found.flatMap(({ t, g, rows }) => {
        const one = byIds.get(`${t}.${g}`);
        return one === undefined ? [] : [{ ...one, rows }];
      });
      // What had no room in the answer is asked for again.
      return pages.length > 0 ? pages : Promise.all(heads.map((one) => this.page(one, stop)));
    });
  }

  private ask(
    pages: readonly MissingPage[],
    question: (stop: AbortSignal) => Promise<LoadedPage[]>,
  ): AbortController {
    const stop = new AbortController();
    const keys = pages.map(keyOf);
    for (const key of keys) this.asked.set(key, stop);
    const run = async () => {
      try {
        const found = await ask(() => question(stop.signal), stop.signal);
        for (const { parent, page, rows } of found) parent.pages.set(page, rows);
        this.loads += found.length;
      } catch (error) {
        if (!isAbort(error)) {
          for (const key of keys) this.refused.add(key);
          this.error.value = error;
        }
      } finally {
        for (const key of keys) if (this.asked.get(key) === stop) this.asked.delete(key);
        this.version.value += 1;
      }
    };
    void run();
    return stop;
  }

  toggle(spot: Spot): void {
    if (spot.parent.open.has(spot.at)) this.close(spot);
    else this.open(spot);
  }

  open({ parent, at }: Spot): boolean {
    const row = parent.row(at);
    if (row === undefined || row.n === 0) return false;
    const opened = this.tree.open(parent, at, row.t?.id ?? GAP, row.g?.id ?? GAP, row.n);
    const rows = opened === null ? undefined : this.ahead.take(opened);
    if (rows !== undefined) {
      opened?.pages.set(0, rows);
      this.loads += 1;
    }
    this.version.value += 1;
    return true;
  }

  close(spot: Spot): void {
    const inner = spot.parent.open.get(spot.at);
    if (inner === undefined) return;
    for (let row = this.cursor.value?.parent ?? null; row !== null; row = row.parent) {
      if (row === inner) this.cursor.value = spot;
    }
    this.ahead.give(inner);
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
    const question = () => this.source.path(this.unit, node, this.pathOptions, signal);
    return this.follow(await ask(question, signal), signal);
  }

  /** The same along a path that is known. */
  async follow(path: NodePath, signal?: AbortSignal): Promise<Spot | null> {
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
    // The places of the top rows are others where only a micro step is shown.
    if (path.page !== undefined && (this.micro === null || steps.length > 1)) {
      parent.pages.set(path.page.offset / PAGE_ROWS, path.page.rows);
      this.loads += 1;
    }
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

  /** Told by the drawing: so many units are in sight from one on. */
  see(begin: number, units: number): void {
    const { value: sight } = this.sight;
    const end = begin + units;
    if (sight.begin !== begin || sight.end !== end) this.sight.value = { begin, end };
  }

  dispose(): void {
    this.ahead.dispose();
    for (const stop of this.asked.values()) stop.abort();
  }
}

function keyOf({ parent, page }: MissingPage): string {
  return `${parent.target}/${parent.golden}/${page}`;
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
