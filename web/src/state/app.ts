/** All state of the page, and the actions that touch more than one part of it. */

import { batch, effect, signal } from "@preact/signals";
import { ApiError, type Source, type UnitRef } from "../api/source";
import type { Side } from "../api/types";
import type { Coloring } from "../model/paint";
import { formatPlace, type Place, parsePlace } from "../model/place";
import { readAddress, watchAddress, writeAddress } from "./address";
import { isAbort } from "./connection";
import { errorText, text } from "./language";
import { Matching } from "./matching";
import { Navigation } from "./navigation";
import { Search } from "./search";
import { SUSPICIOUS, Suspects } from "./suspects";
import { sameUnit, Workspace } from "./workspace";

const NOTICE_MS = 4_000;

/** Why the main area cannot show what was asked for. */
export interface Failure {
  fact: string;
  advice: string;
  path: string;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return error;
  const fact = error instanceof Error ? error.message : String(error);
  return { fact, advice: text("failure.unexpected"), path: "" };
}

/** An error in one line; which file is meant, as one may look at others. */
export function sentence(error: unknown): string {
  const { fact, advice, path } = failureOf(error);
  const said = errorText(fact);
  const line =
    advice === "" ? said : text("failure.line", { fact: said, advice: errorText(advice) });
  return path === "" ? line : text("failure.of_file", { line, path });
}

/** The browser takes its time to note an address: what one did is drawn first. */
function afterDrawing(action: () => void): void {
  if (document.hidden) setTimeout(action);
  else requestAnimationFrame(() => setTimeout(action));
}

export class App {
  readonly workspace: Workspace;
  readonly navigation: Navigation;
  readonly suspects: Suspects;
  readonly search: Search;
  readonly matching: Matching;
  readonly failure = signal<Failure | null>(null);
  /** A short message that goes away by itself. */
  readonly notice = signal<string | null>(null);
  readonly helpOpen = signal(false);
  private noticeTimer: ReturnType<typeof setTimeout> | undefined;
  /** The place that the address names, or will name in a moment: what is shown or on the way. */
  private written = "";
  private shows = 0;
  /** Settled when what was asked for last is shown, or cannot be. */
  private arriving: Promise<unknown> = Promise.resolve();
  /** How many places are on the way: what is shown meanwhile is not what the address asks for. */
  private readonly showing = signal(0);

  constructor(source: Source) {
    this.workspace = new Workspace(source);
    this.navigation = new Navigation(this.workspace, () =>
      this.say(text("notice.all_micro_steps")),
    );
    this.suspects = new Suspects(this.workspace, this.navigation);
    this.search = new Search(this.workspace);
    this.matching = new Matching(this.workspace, this.navigation, (unit) => this.matched(unit));
  }

  start(): void {
    const addressNow = () => readAddress().replace(/^#/, "");
    this.written = addressNow();
    watchAddress(() => {
      const address = addressNow();
      if (address === this.written) return;
      this.written = address;
      void this.show(parsePlace(address));
    });
    void this.run(async () => {
      await this.show(parsePlace(readAddress()));
      effect(() => this.keepAddress());
      effect(() => {
        for (const view of this.workspace.views.value) {
          if (view.error.value !== null) this.say(sentence(view.error.value));
        }
      });
    });
  }

  say(message: string): void {
    clearTimeout(this.noticeTimer);
    this.notice.value = message;
    this.noticeTimer = setTimeout(() => {
      this.notice.value = null;
    }, NOTICE_MS);
  }

  /** Runs an action of the person; what goes wrong is told. */
  async run(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (isAbort(error)) return;
      this.say(sentence(error));
    }
  }

  /** Shows what an address names. */
  show(place: Place, listWanted = false): Promise<void> {
    return this.bring((mine) => this.showPlace(place, listWanted, mine));
  }

  /** Does what leads to another place; `mine` tells whether something else was asked for meanwhile. */
  private bring<T>(action: (mine: number) => Promise<T>): Promise<T> {
    this.shows += 1;
    this.showing.value += 1;
    this.failure.value = null;
    const arriving = action(this.shows).finally(() => {
      this.showing.value -= 1;
    });
    this.arriving = arriving;
    return arriving;
  }

  /** Waits for what is on the way. */
  private async arrived(): Promise<void> {
    for (let last: unknown; last !== this.arriving; ) {
      last = this.arriving;
      await this.arriving;
    }
  }

  private async showPlace(place: Place, listWanted: boolean, mine: number): Promise<void> {
    const { workspace, suspects } = this;
    try {
      workspace.linked.value = place.linked ?? true;
      workspace.chosenColoring.value = place.coloring ?? "index";
      const listing = workspace.files.value === null ? workspace.listFiles() : Promise.resolve();
      // A file that is named needs no list; a list that fails is no reason not to show it.
      if (place.file === null) await listing;
      else listing.catch(() => undefined);
      const files = workspace.files.value?.files ?? [];
      // The only file is what one came for, unless one just left it.
      const only = files.length === 1 && !listWanted ? files[0] : undefined;
      const file = place.file ?? only?.file ?? null;
      if (file === null) return workspace.closeFile();
      if (file !== workspace.file.value?.file && !(await workspace.openFile(file))) return;
      if (mine !== this.shows) return;
      suspects.filter.value = place.filter ?? SUSPICIOUS;
      suspects.side.value = place.filterSide;
      if (!(await this.enter(workspace.unitAt(place.step, place.rank), place.micro, mine))) return;
      const { step = null, rank = null } = workspace.unit.value ?? {};
      const other = (place.step ?? step) !== step || (place.rank ?? rank) !== rank;
      const all = workspace.micro.value !== place.micro;
      if (place.node !== null) await this.goByName(place.node);
      if (mine !== this.shows) return;
      if (other) this.say(text("notice.no_unit"));
      else if (all) this.say(text("notice.no_micro_step", { micro: place.micro ?? "" }));
    } catch (error) {
      if (!isAbort(error) && mine === this.shows) this.failure.value = failureOf(error);
    }
  }

  /** Loads and draws a unit; false if something else was asked for meanwhile. */
  private async enter(u: number, micro: number | null, mine: number): Promise<boolean> {
    const { workspace } = this;
    this.navigation.stop();
    try {
      if (!(await workspace.loadUnit(u)) || mine !== this.shows) return false;
      // A micro step that is not there would be a tree without rows.
      const { micro_steps = 0 } = workspace.file.value?.units[u] ?? {};
      return await this.rebuild(u, micro !== null && micro < micro_steps ? micro : null);
    } catch (error) {
      if (!isAbort(error) && mine === this.shows) workspace.leaveUnit(u);
      throw error;
    }
  }

  private async goByName(node: { side: Side; name: string }): Promise<void> {
    try {
      await this.navigation.go(node);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.say(text("notice.no_node", { name: node.name.slice(0, 200) }));
    }
  }

  openFile(file: string | null): void {
    const place = { ...parsePlace(""), file };
    this.push(place);
    void this.show(place, file === null);
  }

  /** What could not be shown once more: the address names it. */
  async retry(): Promise<void> {
    const { linked, chosenColoring } = this.workspace;
    const place = parsePlace(readAddress());
    await this.show({ ...place, linked: linked.value, coloring: chosenColoring.value });
  }

  /** Another unit of the file; the same node is shown there if it exists. */
  showUnit(u: number, micro: number | null = null): Promise<boolean> {
    const { step = null, rank = null } = this.workspace.file.value?.units[u] ?? {};
    this.push({ ...this.place(), ...(this.manyUnits() ? { step, rank } : {}), micro });
    return this.bring((mine) => this.bringUnit(u, micro, mine));
  }

  /** To the first divergence of the whole run, whichever step and rank it is in. */
  async goToFirst(): Promise<boolean> {
    const u = this.workspace.divergent.value;
    if (u === null) return false;
    if (u !== this.workspace.u.value && !(await this.showUnit(u))) return true;
    return this.suspects.goToCulprit(0);
  }

  private async bringUnit(u: number, micro: number | null, mine: number): Promise<boolean> {
    const { navigation } = this;
    const node = navigation.selected.value;
    try {
      if (!(await this.enter(u, micro, mine))) return false;
    } catch (error) {
      if (!isAbort(error) && mine === this.shows) this.failure.value = failureOf(error);
      return false;
    }
    if (node !== null) {
      await navigation.goIfShown({ side: node.side, name: node.name }).catch(() => false);
    }
    return true;
  }

  async setLinked(linked: boolean): Promise<void> {
    const { workspace, navigation } = this;
    workspace.linked.value = linked;
    await this.arrived();
    if (workspace.views.value.length === 0) return;
    const node = navigation.selected.value;
    if (!(await workspace.showUnit())) return;
    navigation.clear();
    if (node !== null) await navigation.go({ side: node.side, id: node.id });
  }

  setColoring(coloring: Coloring): void {
    this.workspace.chosenColoring.value = coloring;
  }

  /**
   * Nodes of a unit were paired or let go: what the file says about its units and all of the unit
   * anew. False if another one is shown by now.
   */
  private async matched(unit: UnitRef): Promise<boolean> {
    const { workspace } = this;
    await this.arrived();
    if (!sameUnit(unit, workspace.ref) || workspace.views.value.length === 0) return false;
    const { shows } = this;
    await workspace.refreshFile();
    return shows === this.shows && this.rebuild(workspace.u.value, workspace.micro.value);
  }

  /** Everything of a unit anew. */
  private async rebuild(u: number, micro: number | null): Promise<boolean> {
    const { workspace, navigation, suspects } = this;
    if (!(await workspace.showUnit(u, micro))) return false;
    batch(() => {
      navigation.clear();
      suspects.reload();
    });
    await this.matching.load();
    return true;
  }

  private manyUnits(): boolean {
    return (this.workspace.file.value?.units.length ?? 0) > 1;
  }

  private place(): Place {
    const { workspace, navigation, suspects } = this;
    const unit = workspace.unit.value;
    const many = this.manyUnits();
    const selected = navigation.selected.value;
    const chosen = workspace.chosenColoring.value;
    return {
      file: workspace.name.value,
      step: many ? (unit?.step ?? null) : null,
      rank: many ? (unit?.rank ?? null) : null,
      micro: workspace.micro.value,
      node: selected === null ? null : { side: selected.side, name: selected.name },
      filter: suspects.filtered.value ? suspects.filter.value : null,
      filterSide: suspects.side.value,
      coloring: chosen === "index" ? null : chosen,
      linked: workspace.linked.value ? null : false,
    };
  }

  /** A new entry of the history, for a place that is on the way. */
  private push(place: Place): void {
    this.written = formatPlace(place);
    writeAddress(this.written, true);
  }

  private keepAddress(): void {
    const address = formatPlace(this.place());
    const onTheWay = this.showing.value > 0 || this.workspace.loading.value !== null;
    // What cannot be shown stays in the address, to be tried again.
    if (onTheWay || this.failure.value !== null || address === this.written) return;
    this.written = address;
    afterDrawing(() => {
      if (this.written === address && this.showing.value === 0) writeAddress(address, false);
    });
  }
}
