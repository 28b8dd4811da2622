/** Pairing unmatched nodes by hand. */

import { signal } from "@preact/signals";
import { ApiError, type LastAction, type UnitRef } from "../api/source";
import type { IdPair, ManualAction, ManualPair, Side } from "../api/types";
import { ask } from "./connection";
import type { Navigation } from "./navigation";
import type { Workspace } from "./workspace";

const PAIRS_PAGE = 200;
const CHANGED_MEANWHILE = new Set([400, 404]);

export interface Picked {
  side: Side;
  id: number;
  name: string;
}

export class Matching {
  /** The first node of a pair, while the second is looked for. */
  readonly picked = signal<Picked | null>(null);
  readonly withChildren = signal(true);
  /** Those that are loaded of all `total`, in the order in which they were made. */
  readonly pairs = signal<readonly ManualPair[]>([]);
  readonly total = signal(0);
  /** The last action: what "undo" takes back. */
  readonly last = signal<ManualAction | null>(null);
  /** There is something that a layer mapping can say. */
  readonly canExport = signal(false);
  readonly possible = signal(false);
  /** While the server pairs or lets go: the same once more would be something else. */
  readonly busy = signal(false);

  constructor(
    private readonly workspace: Workspace,
    private readonly navigation: Navigation,
    /** Shows what became of the pairs of a unit; false if another one is shown by now. */
    private readonly changed: (unit: UnitRef) => Promise<boolean>,
  ) {}

  async load(): Promise<void> {
    this.picked.value = null;
    this.pairs.value = [];
    this.total.value = 0;
    this.last.value = null;
    this.possible.value = false;
    if (this.workspace.file.value?.can_match !== true) return;
    const views = this.workspace.views.value;
    try {
      await this.more();
      this.possible.value = views === this.workspace.views.value;
    } catch (error) {
      // A server that cannot match can still show everything else.
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Loads the next page of pairs. */
  async more(): Promise<void> {
    const { source, ref } = this.workspace;
    const known = this.pairs.value;
    const answer = await ask(() => source.matches(ref, known.length, PAIRS_PAGE));
    // Another unit is shown by now, or the page was asked for twice.
    if (this.pairs.value !== known) return;
    this.pairs.value = [...known, ...answer.pairs];
    this.total.value = answer.total;
    this.last.value = answer.undo;
    this.canExport.value = answer.mapping;
  }

  /** The selected node becomes the first of a pair. */
  pick(): void {
    const selected = this.navigation.selected.value;
    if (selected === null) return;
    const { side, id, name } = selected;
    this.picked.value = { side, id, name };
  }

  /** What the selected node is for the picked one. */
  candidate(): Picked | null {
    const picked = this.picked.value;
    const selected = this.navigation.selected.value;
    if (picked === null || selected === null || selected.side === picked.side) return null;
    const partner = selected.side === "t" ? selected.g : selected.t;
    return partner >= 0 ? null : selected;
  }

  async confirm(): Promise<void> {
    const picked = this.picked.value;
    const candidate = this.candidate();
    if (picked === null || candidate === null) return;
    const [t, g] = picked.side === "t" ? [picked.id, candidate.id] : [candidate.id, picked.id];
    const { source } = this.workspace;
    const children = this.withChildren.value;
    await this.change(async (unit) => {
      await source.match(unit, t, g, children);
      if (this.picked.value === picked) this.picked.value = null;
      return t;
    });
  }

  async remove({ t, g }: ManualPair): Promise<void> {
    await this.takeBack(t, { t, g });
  }

  async undo(): Promise<void> {
    if (this.last.value === null) return;
    const { t, g, count } = this.last.value;
    await this.takeBack(t, { last: { t, g, count } });
  }

  private async takeBack(t: number, what: IdPair | { last: LastAction }): Promise<void> {
    const { source } = this.workspace;
    await this.change(async (unit) => {
      await source.unmatch(unit, what);
      return t;
    });
  }

  /** Real data takes its time: one may be at another unit, where the ids are others, when it is done. */
  private async change(action: (unit: UnitRef) => Promise<number | null>): Promise<void> {
    if (this.busy.value) return;
    this.busy.value = true;
    try {
      const { ref } = this.workspace;
      const id = await action(ref).catch(async (error) => {
        // Somebody else has changed the pairs: those that there are now are shown.
        const changed = error instanceof ApiError && CHANGED_MEANWHILE.has(error.status);
        if (changed) await this.changed(ref).catch(() => false);
        throw error;
      });
      const here = await this.changed(ref);
      if (here && id !== null) await this.navigation.go({ side: "t", id });
    } finally {
      this.busy.value = false;
    }
  }

  exportAddress(): string | null {
    return this.workspace.source.matchesYaml(this.workspace.ref);
  }
}
