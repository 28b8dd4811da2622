/** The lists of nodes worth a look: filters, the first divergence, the overview, next and previous. */

import { computed, signal } from "@preact/signals";
import type { DivergenceReport, Filter, Item, OverviewBin, Side } from "../api/types";
import { worstOverflow } from "../model/paint";
import { ask } from "./connection";
import type { Navigation } from "./navigation";
import { PagedList } from "./paged_list";
import type { Workspace } from "./workspace";

const OVERVIEW_BINS = 600;
export const SUSPICIOUS: Filter = { by: "suspicious", value: "" };

export type Step = "moved" | "wrapped" | "none";

export function sameFilter(a: Filter, b: Filter): boolean {
  return a.by === b.by && a.value === b.value;
}

export class Suspects {
  readonly filter = signal<Filter>(SUSPICIOUS);
  readonly side = signal<Side>("t");
  readonly list = signal<PagedList | null>(null);
  readonly divergence = signal<DivergenceReport | null>(null);
  readonly overview = signal<readonly OverviewBin[]>([]);
  /** Which culprit was gone to last. */
  readonly culprit = signal(0);
  readonly filtered = computed(() => !sameFilter(this.filter.value, SUSPICIOUS));
  /** What the list holds. In a graph alone what overflows most is what is suspicious. */
  readonly listed = computed<Filter>(() => {
    const { value: filter } = this.filter;
    const { comparison, unit } = this.workspace;
    if (comparison.value || this.filtered.value || unit.value === null) return filter;
    const level = worstOverflow(unit.value.counts);
    return level === "" ? filter : { by: "overflow", value: level };
  });
  private stop = new AbortController();
  /** Until the divergence of the unit is known; rejected if it will not be. */
  private searching: Promise<void> = Promise.resolve();
  private stepping: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly workspace: Workspace,
    private readonly navigation: Navigation,
  ) {}

  /** Asks all again, for the unit that is shown now. */
  reload(): void {
    this.stop.abort();
    this.stop = new AbortController();
    this.divergence.value = null;
    this.overview.value = [];
    this.culprit.value = 0;
    this.reloadList();
    if (!this.workspace.comparison.value) return;
    const { source, ref } = this.workspace;
    const { signal: stopped } = this.stop;
    const ignore = () => undefined;
    this.searching = ask(() => source.divergence(ref, stopped), stopped).then((report) => {
      if (!stopped.aborted) this.divergence.value = report;
    });
    this.searching.catch(ignore);
    ask(() => source.overview(ref, OVERVIEW_BINS, stopped), stopped)
      .then((bins) => {
        if (!stopped.aborted) this.overview.value = bins;
      })
      .catch(ignore);
  }

  private reloadList(): void {
    this.list.value?.dispose();
    if (!this.workspace.comparison.value && this.listed.value.by === "suspicious") {
      this.list.value = null;
      return;
    }
    const { source, ref } = this.workspace;
    const filter = this.listed.value;
    const side = this.side.value;
    this.list.value = new PagedList((offset, limit, stopped) =>
      source.list(ref, filter, side, offset, limit, stopped),
    );
  }

  setFilter(filter: Filter, side: Side = "t"): void {
    this.filter.value = filter;
    this.side.value = side;
    this.reloadList();
  }

  /** The next or previous node of the list, seen from the selected one; goes round at the ends. */
  step(forward: boolean): Promise<Step> {
    // A key pressed quickly again starts from where the step before it ends.
    const next = this.stepping.then(
      () => this.stepNow(forward),
      () => this.stepNow(forward),
    );
    this.stepping = next;
    return next;
  }

  private async stepNow(forward: boolean): Promise<Step> {
    const { source, ref } = this.workspace;
    const views = this.workspace.views.value;
    const side = this.side.value;
    const id = this.navigation.idOn(side);
    const filter = this.listed.value;
    const options = this.navigation.pathOptions(side);
    const found = await ask(() => source.seek(ref, { side, id }, forward, filter, options));
    // What was found is of trees that nobody sees any more.
    if (views !== this.workspace.views.value) return "moved";
    if (found !== null) {
      await this.navigation.go({ side, id: found.item.id }, found.path);
      return "moved";
    }
    const item = await this.atEnd(!forward, filter, side);
    if (views !== this.workspace.views.value) return "moved";
    if (item === null) return "none";
    await this.navigation.go({ side, id: item.id });
    return "wrapped";
  }

  private async atEnd(last: boolean, filter: Filter, side: Side): Promise<Item | null> {
    const { source, ref } = this.workspace;
    const first = await ask(() => source.list(ref, filter, side, 0, 1));
    if (!last || first.total === 0) return first.items[0] ?? null;
    const page = await ask(() => source.list(ref, filter, side, first.total - 1, 1));
    return page.items[0] ?? null;
  }

  /**
   * Goes to a culprit; without a number to the first, and to the next when it is there already.
   * Where there is none, the first difference is where to look.
   */
  async goToCulprit(at?: number): Promise<boolean> {
    await this.searching;
    const culprits = this.divergence.value?.culprits ?? [];
    if (culprits.length === 0) {
      const first = this.divergence.value?.first_difference ?? null;
      return first !== null && this.navigation.go({ side: "t", id: first.id });
    }
    const here = culprits[this.culprit.value];
    const onIt = here !== undefined && this.navigation.selected.value?.t === here.id;
    const next = at ?? (onIt ? this.culprit.value + 1 : this.culprit.value);
    this.culprit.value = next % culprits.length;
    const culprit = culprits[this.culprit.value];
    return culprit !== undefined && this.navigation.go({ side: "t", id: culprit.id });
  }
}
