/** The open file, its unit, and the trees that show it. */

import { batch, computed, signal } from "@preact/signals";
import { ApiError, type Source, type UnitRef } from "../api/source";
import type { Band, FileList, LoadingFile, ReadyFile, Side, Unit } from "../api/types";
import { firstDivergent } from "../model/first_unit";
import type { Coloring } from "../model/paint";
import { ask } from "./connection";
import { GraphView, type Sides } from "./graph_view";
import { OpenNodes } from "./open_nodes";

/** The server itself waits until the file is ready or a moment has passed. */
const POLL_MS = 20;
const SUMS_MS = 300;
const LONGEST_SUMS_MS = 3_000;
/** So many units are tried before a file is said to be unreadable. */
const MOST_TRIED = 64;
const NO_BANDS: Band[] = [];

export class Workspace {
  readonly files = signal<FileList | null>(null);
  readonly file = signal<ReadyFile | null>(null);
  /** The file that is being opened or shown. */
  readonly name = signal<string | null>(null);
  readonly loading = signal<LoadingFile | null>(null);
  readonly u = signal(0);
  readonly micro = signal<number | null>(null);
  readonly linked = signal(true);
  readonly chosenColoring = signal<Coloring>("index");
  readonly views = signal<readonly GraphView[]>([]);
  /** Too little room for both sides beside each other: then only this one is shown. */
  readonly narrow = signal(false);
  readonly oneSide = signal<Side>("t");

  readonly bands = computed(() => this.file.value?.bands ?? NO_BANDS);
  readonly comparison = computed(() => this.file.value?.type === "compare");
  /** A graph alone has nothing but its overflow to show. */
  readonly coloring = computed<Coloring>(() =>
    this.comparison.value ? this.chosenColoring.value : "overflow",
  );
  readonly unit = computed<Unit | null>(() => this.file.value?.units[this.u.value] ?? null);
  /** The units of the step in which the whole run diverges first, as far as is known yet. */
  readonly divergents = computed(() =>
    this.comparison.value ? firstDivergent(this.file.value?.units ?? []) : [],
  );
  /** One of them to go to. */
  readonly divergent = computed(() => this.divergents.value[0] ?? null);
  readonly steps = computed(() => distinct(this.file.value?.units.map((unit) => unit.step)));
  readonly ranks = computed(() =>
    distinct(
      this.file.value?.units
        .filter((unit) => unit.step === this.unit.value?.step)
        .map((unit) => unit.rank),
    ),
  );
  private opening = new AbortController();
  /** Stops the waiting for a unit, once another one is wanted. */
  private waiting = new AbortController();
  /** Whose units are being asked for in the background. */
  private summing: AbortSignal | null = null;
  /** A unit that was there to be shown: asking with it tells of all the others. */
  private readable = 0;
  /** Stops the building of trees, once others are wanted. */
  private showing = new AbortController();

  constructor(readonly source: Source) {}

  get ref(): UnitRef {
    return { file: this.name.value ?? "", u: this.u.value };
  }

  async listFiles(): Promise<void> {
    this.files.value = await ask(() => this.source.files());
  }

  /**
   * Loads a file and waits until its units are known; false if another one was opened or it was
   * cancelled. They come with any unit that can be read: the first one may be damaged.
   */
  async openFile(name: string): Promise<boolean> {
    this.leave();
    this.opening = new AbortController();
    this.name.value = name;
    const { signal: left } = this.opening;
    let first: ApiError | undefined;
    let last: ApiError | undefined;
    for (let u = 0; ; u += 1) {
      try {
        return await this.awaitUnit(name, u);
      } catch (error) {
        if (left.aborted) return false;
        if (!(error instanceof ApiError)) throw error;
        first ??= error;
        // The file as a whole says the same for every unit, and so does a unit that is not there.
        const same = error.fact === last?.fact && error.path === last.path;
        if (same || u + 1 === MOST_TRIED) throw first;
        last = error;
      }
    }
  }

  /**
   * Waits for a unit of the open file; false if something else was opened meanwhile. Also one that
   * was summed up may not be in memory: only the server knows.
   */
  async loadUnit(u: number): Promise<boolean> {
    const name = this.name.value;
    if (name === null) return false;
    this.waiting.abort();
    this.showing.abort();
    this.loading.value = null;
    return this.awaitUnit(name, u);
  }

  private async awaitUnit(name: string, u: number): Promise<boolean> {
    const stop = new AbortController();
    this.waiting = stop;
    const { signal: stopped } = stop;
    const { signal: left } = this.opening;
    try {
      for (;;) {
        const answer = await ask(
          () => this.source.open(name, u, stopped, this.file.value !== null),
          stopped,
        );
        if (stopped.aborted) return false;
        if (answer.state === "ready") {
          this.file.value = answer;
          this.readable = u;
          void this.awaitSums(name, left);
          return true;
        }
        batch(() => {
          if (this.file.value !== null) this.leaveUnit(u);
          this.loading.value = answer;
        });
        await pause(POLL_MS);
        if (stopped.aborted) return false;
      }
    } finally {
      if (!stopped.aborted) this.loading.value = null;
    }
  }

  /** Servers sum the other units up in the background: asks until all are known. */
  private async awaitSums(name: string, stopped: AbortSignal): Promise<void> {
    if (this.summing === stopped) return;
    this.summing = stopped;
    try {
      for (let wait = SUMS_MS; !stopped.aborted; wait = Math.min(wait * 1.5, LONGEST_SUMS_MS)) {
        if (this.file.value?.units.some((unit) => unit.pending) !== true) break;
        await pause(wait);
        // Not with the unit that is wanted: of one that is damaged the server tells nothing else.
        const answer = await ask(
          () => this.source.open(name, this.readable, stopped, true),
          stopped,
        );
        if (!stopped.aborted && answer.state === "ready") this.file.value = answer;
      }
    } catch {
      // The map of units then stays as it is; whatever is asked next tells what is wrong.
    } finally {
      if (this.summing === stopped) this.summing = null;
    }
  }

  /** Reads the counts again, after nodes were matched. */
  async refreshFile(): Promise<void> {
    const answer = await ask(() => this.source.open(this.ref.file, this.u.value, undefined, true));
    if (answer.state === "ready" && answer.file === this.name.value) this.file.value = answer;
  }

  /** Stops a loading, here and in the server. */
  cancel(): void {
    const name = this.name.value;
    this.closeFile();
    if (name !== null) void this.source.cancel(name).catch(() => undefined);
  }

  closeFile(): void {
    this.leave();
    this.name.value = null;
  }

  /** Stops all that goes on for the open file, and forgets it. */
  private leave(): void {
    this.opening.abort();
    this.waiting.abort();
    this.showing.abort();
    this.loading.value = null;
    this.file.value = null;
    this.u.value = 0;
    this.micro.value = null;
    this.setViews([]);
  }

  /** The unit is on the way, or cannot be shown: what was shown before would be taken for it. */
  leaveUnit(u: number): void {
    this.showing.abort();
    batch(() => {
      this.u.value = u;
      if (this.views.value.length > 0) this.setViews([]);
    });
  }

  unitAt(step: number | null, rank: number | null): number {
    const units = this.file.value?.units ?? [];
    const exact = units.findIndex((unit) => unit.step === step && unit.rank === rank);
    if (exact >= 0) return exact;
    return Math.max(
      0,
      units.findIndex((unit) => unit.step === step || (step === null && unit.rank === rank)),
    );
  }

  /**
   * Builds the trees of a unit anew; what was open in those before stays open. False if something
   * else was shown meanwhile. Until they are there, the unit that is shown is the one before: its
   * nodes must not be taken for those of another one.
   */
  async showUnit(u = this.u.value, micro = this.micro.value): Promise<boolean> {
    this.showing.abort();
    this.showing = new AbortController();
    const { signal: stopped } = this.showing;
    const ref = { file: this.ref.file, u };
    // The rows of another micro step are others.
    const before = this.views.value.filter(
      (view) => sameUnit(view.unit, ref) && view.micro === micro,
    );
    const nodes = new OpenNodes(before.map((view) => view.tree.root));
    const comparison = this.comparison.value;
    const sides: Sides[] = comparison ? (this.linked.value ? ["both"] : ["t", "g"]) : ["t"];
    const views = sides.map((side) => new GraphView(this.source, ref, side, micro, comparison));
    try {
      await Promise.all(
        views.map(async (view) => {
          await view.start(stopped);
          await view.openAgain(nodes, stopped);
        }),
      );
    } catch (error) {
      if (!stopped.aborted) {
        this.showing.abort();
        throw error;
      }
    }
    if (stopped.aborted) {
      for (const view of views) view.dispose();
      return false;
    }
    for (const view of views) {
      if (view.tree.root.count === 1) view.open({ parent: view.tree.root, at: 0 });
    }
    batch(() => {
      this.u.value = u;
      this.micro.value = micro;
      this.setViews(views);
    });
    return true;
  }

  private setViews(views: GraphView[]): void {
    for (const view of this.views.value) view.dispose();
    this.views.value = views;
  }
}

export function sameUnit(one: UnitRef, other: UnitRef): boolean {
  return one.file === other.file && one.u === other.u;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

function distinct(values: (number | null)[] | undefined): (number | null)[] {
  return [...new Set(values ?? [])];
}
