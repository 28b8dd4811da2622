/**
 * What stands inside of the closed rows in sight, asked for before somebody opens one: what one
 * opens is there at once.
 */

import { GAP, type Inside, type Row } from "../api/types";
import type { Line } from "../layout/window";
import { type OpenRow, PAGE_ROWS } from "../model/row_tree";

/** Scrolling asks for nothing: only where one stays. */
const WAIT_MS = 40;
const MAX_KEPT = 300;
/** Reading more than this would be felt when one scrolls on. */
const MAX_ROWS = 400;

type Ids = readonly [t: number, g: number];

export class RowsAhead {
  /** By the ids of the row; what was taken longest ago goes first. */
  private readonly kept = new Map<string, Row[]>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stop = new AbortController();

  constructor(
    private readonly load: (of: readonly Ids[], signal: AbortSignal) => Promise<Inside[]>,
  ) {}

  /** These lines are in sight now. */
  want(lines: readonly Line[]): void {
    clearTimeout(this.timer);
    this.stop.abort();
    const of = this.unknown(lines);
    if (of.length === 0) return;
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.timer = setTimeout(async () => {
      try {
        const found = await this.load(of, signal);
        if (!signal.aborted) for (const { t, g, rows } of found) this.keep(`${t}.${g}`, rows);
      } catch {
        // Nobody has asked for it: opening the row asks again, and tells what is wrong.
      }
    }, WAIT_MS);
  }

  private unknown(lines: readonly Line[]): Ids[] {
    const of: Ids[] = [];
    let rows = 0;
    for (const line of lines) {
      if (line.kind === "end" || line.open || line.row === undefined || line.row.n === 0) continue;
      const { t, g, n } = line.row;
      const ids: Ids = [t?.id ?? GAP, g?.id ?? GAP];
      if (this.kept.has(ids.join("."))) continue;
      rows += Math.min(n, PAGE_ROWS);
      if (rows > MAX_ROWS) break;
      of.push(ids);
    }
    return of;
  }

  private keep(key: string, rows: Row[]): void {
    this.kept.delete(key);
    this.kept.set(key, rows);
    const oldest = this.kept.keys().next().value;
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
  }

  /** A row is closed: what stood in it is there when it is opened again. */
  give(row: OpenRow): void {
    const rows = row.pages.get(0);
    if (rows !== undefined) this.keep(`${row.target}.${row.golden}`, rows);
  }

  /** The first rows of a row that is opened, if they are there. */
  take(row: OpenRow): Row[] | undefined {
    return this.kept.get(`${row.target}.${row.golden}`);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.stop.abort();
  }
}
