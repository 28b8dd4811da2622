/** The open file, its unit, and the trees that show it. */

import { computed, signal } from "@preact/signals";
import type { Source, UnitRef } from "../api/source";
import type { Band, FileList, LoadingFile, ReadyFile, Unit } from "../api/types";
import type { Coloring } from "../model/paint";
import { ask } from "./connection";
import { GraphView, type Sides } from "./graph_view";

const POLL_MS = 150;
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
  readonly coloring = signal<Coloring>("index");
  readonly views = signal<readonly GraphView[]>([]);

  readonly bands = computed(() => this.file.value?.bands ?? NO_BANDS);
  readonly comparison = computed(() => this.file.value?.type === "compare");
  readonly unit = computed<Unit | null>(() => this.file.value?.units[this.u.value] ?? null);
  readonly steps = computed(() => distinct(this.file.value?.units.map((unit) => unit.step)));
  readonly ranks = computed(() =>
    distinct(
      this.file.value?.units
        .filter((unit) => unit.step === this.unit.value?.step)
        .map((unit) => unit.rank),
    ),
  );
  private opening = new AbortController();

  constructor(readonly source: Source) {}

  get ref(): UnitRef {
    return { file: this.name.value ?? "", u: this.u.value };
  }

  async listFiles(): Promise<void> {
    this.files.value = await ask(() => this.source.files());
  }

  /** Loads a file and waits for it; false if another one was opened or it was cancelled. */
  async openFile(name: string): Promise<boolean> {
    this.opening.abort();
    const stop = new AbortController();
    this.opening = stop;
    this.name.value = name;
    this.file.value = null;
    this.setViews([]);
    for (;;) {
      const answer = await ask(() => this.source.open(name, stop.signal), stop.signal);
      if (stop.signal.aborted) return false;
      if (answer.state === "ready") {
        this.loading.value = null;
        this.file.value = answer;
        return true;
      }
      this.loading.value = answer;
      await new Promise((done) => setTimeout(done, POLL_MS));
      if (stop.signal.aborted) return false;
    }
  }

  /** Reads the counts again, after nodes were matched. */
  async refreshFile(): Promise<void> {
    const answer = await ask(() => this.source.open(this.ref.file));
    if (answer.state === "ready" && answer.file === this.name.value) this.file.value = answer;
  }

  /** Stops a loading, here and in the server. */
  cancel(): void {
    this.opening.abort();
    const name = this.name.value;
    this.loading.value = null;
    this.name.value = null;
    if (name !== null) void this.source.cancel(name).catch(() => undefined);
  }

  closeFile(): void {
    this.opening.abort();
    this.loading.value = null;
    this.name.value = null;
    this.file.value = null;
    this.setViews([]);
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

  /** Builds the trees of the unit anew. */
  async showUnit(): Promise<void> {
    const comparison = this.comparison.value;
    const sides: Sides[] = comparison ? (this.linked.value ? ["both"] : ["t", "g"]) : ["t"];
    const views = sides.map(
      (side) => new GraphView(this.source, this.ref, side, this.micro.value, comparison),
    );
    await Promise.all(views.map((view) => view.start()));
    for (const view of views) {
      if (view.tree.root.count === 1) view.open({ parent: view.tree.root, at: 0 });
    }
    this.setViews(views);
  }

  private setViews(views: GraphView[]): void {
    for (const view of this.views.value) view.dispose();
    this.views.value = views;
  }
}

function distinct(values: (number | null)[] | undefined): (number | null)[] {
  return [...new Set(values ?? [])];
}
