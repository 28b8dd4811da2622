/** A long list of which only the pages in sight are loaded. */

import { signal } from "@preact/signals";
import type { Item, Page } from "../api/types";
import { ask, isAbort } from "./connection";

export const LIST_PAGE = 100;
const MAX_PAGES = 50;

export type LoadPage = (offset: number, limit: number, signal: AbortSignal) => Promise<Page<Item>>;

export class PagedList {
  readonly total = signal<number | null>(null);
  readonly error = signal<unknown>(null);
  /** Changes whenever pages came. */
  readonly version = signal(0);
  private readonly pages = new Map<number, Item[]>();
  private readonly asked = new Set<number>();
  /** Pages that the server refused: asking again at once would go on for ever. */
  private readonly refused = new Set<number>();
  private readonly stop = new AbortController();
  /** Fulfilled when the first page has come, or will not come. */
  readonly first: Promise<void>;

  constructor(private readonly load: LoadPage) {
    this.first = this.fetch(0);
  }

  item(at: number): Item | undefined {
    return this.pages.get(Math.floor(at / LIST_PAGE))?.[at % LIST_PAGE];
  }

  /** Makes sure that the items [begin, end) come. */
  need(begin: number, end: number): void {
    const last = Math.floor(Math.max(begin, end - 1) / LIST_PAGE);
    for (let page = Math.floor(begin / LIST_PAGE); page <= last; page += 1) {
      const known = this.pages.has(page) || this.asked.has(page) || this.refused.has(page);
      if (!known) void this.fetch(page);
    }
  }

  private async fetch(page: number): Promise<void> {
    this.asked.add(page);
    const { signal: stopped } = this.stop;
    try {
      const answer = await ask(() => this.load(page * LIST_PAGE, LIST_PAGE, stopped), stopped);
      this.pages.set(page, answer.items);
      const oldest = this.pages.keys().next().value;
      if (this.pages.size > MAX_PAGES && oldest !== undefined) this.pages.delete(oldest);
      this.total.value = answer.total;
      this.version.value += 1;
    } catch (error) {
      if (!isAbort(error)) {
        this.refused.add(page);
        this.error.value = error;
      }
    } finally {
      this.asked.delete(page);
    }
  }

  /** Nobody looks at the list any more. */
  dispose(): void {
    this.stop.abort();
  }
}
