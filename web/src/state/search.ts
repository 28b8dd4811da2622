/** Search as one types: the last query counts, older ones are stopped. */

import { computed, effect, signal, untracked } from "@preact/signals";
import type { Item } from "../api/types";
import { PagedList } from "./paged_list";
import type { Workspace } from "./workspace";

/** Keys that follow faster than this while an answer is awaited are one query. */
const GAP_MS = 30;

function isAwaited(hits: PagedList): boolean {
  return hits.total.value === null && hits.error.value === null;
}

export class Search {
  readonly query = signal("");
  readonly hits = signal<PagedList | null>(null);
  /** What is there of it: the hits of the query before stay until the next ones have come. */
  readonly shown = computed<PagedList | null>(() => {
    const hits = this.hits.value;
    return hits !== null && isAwaited(hits) && this.before !== null ? this.before : hits;
  });
  private before: PagedList | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = Number.NEGATIVE_INFINITY;

  constructor(private readonly workspace: Workspace) {
    // Hits of one unit say nothing about another.
    effect(() => {
      this.workspace.views.value;
      this.forget();
      if (this.query.peek() !== "") untracked(() => this.later());
    });
  }

  type(query: string): void {
    this.query.value = query;
    if (query.trim() !== "") this.later();
    else this.forget();
  }

  private later(): void {
    clearTimeout(this.timer);
    // As long as no answer is awaited there is nothing to wait for.
    const hits = this.hits.peek();
    if (hits === null || !untracked(() => isAwaited(hits))) {
      this.ask();
      return;
    }
    const wait = Math.max(0, GAP_MS - (performance.now() - this.asked));
    this.timer = setTimeout(() => this.ask(), wait);
  }

  /** The first hit of what stands in the field, also when it has not come yet. */
  async first(): Promise<Item | undefined> {
    if (this.timer !== undefined) this.ask();
    const hits = this.hits.peek();
    await hits?.first;
    return hits === this.hits.peek() ? hits?.item(0) : undefined;
  }

  private ask(): void {
    this.asked = performance.now();
    this.before = untracked(() => this.shown.value);
    this.drop();
    const { source, ref } = this.workspace;
    // A unit that is still on the way has no hits yet.
    if (this.workspace.views.peek().length === 0) return;
    const query = this.query.peek().trim();
    const side = this.workspace.comparison.peek() ? "b" : "t";
    this.hits.value = new PagedList((offset, limit, stopped) =>
      source.search(ref, query, side, offset, limit, stopped),
    );
  }

  private forget(): void {
    this.drop();
    this.before = null;
  }

  private drop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.hits.peek()?.dispose();
    this.hits.value = null;
  }
}
