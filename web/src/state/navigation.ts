/** Which node is selected, what is known of it, and how to get to others. */

import { signal } from "@preact/signals";
import type { NodeRef, PathOptions } from "../api/source";
import { type Detail, GAP, type NodePath, type Row, type Side } from "../api/types";
import { ask, isAbort } from "./connection";
import type { GraphView, Spot } from "./graph_view";
import type { Workspace } from "./workspace";

/** Keys held down walk over many nodes: only the one that stays is asked for. */
const DETAIL_WAIT_MS = 60;

export interface Selected {
  side: Side;
  id: number;
  name: string;
  /** Ids of the node and its partner; -1 without. */
  t: number;
  g: number;
}

export class Navigation {
  readonly selected = signal<Selected | null>(null);
  readonly detail = signal<Detail | null>(null);
  readonly detailError = signal<unknown>(null);
  /** The tree that the keyboard moves in. */
  readonly active = signal<GraphView | null>(null);
  private going = new AbortController();
  private loading = new AbortController();

  constructor(
    private readonly workspace: Workspace,
    /** Called when all micro steps are shown, as a node is not in the one that was. */
    private readonly widened: () => void,
  ) {}

  /** Goes nowhere any more: other trees will be shown. */
  stop(): void {
    this.going.abort();
  }

  clear(): void {
    this.going.abort();
    this.loading.abort();
    this.selected.value = null;
    this.detail.value = null;
    this.detailError.value = null;
    this.active.value = this.workspace.views.value[0] ?? null;
  }

  /** Selects what is at a place; `side` is what was pointed at, if anything was. */
  async select(view: GraphView, spot: Spot, side: Side | null = null): Promise<void> {
    this.active.value = view;
    view.putCursor(spot);
    const row = await view.row(spot);
    if (row === undefined || view.cursor.value !== spot) return;
    this.selectRow(row, side ?? this.selected.value?.side ?? "t");
  }

  private selectRow(row: Row, preferred: Side): void {
    const side = row[preferred] === null ? (preferred === "t" ? "g" : "t") : preferred;
    const brief = row[side];
    if (brief === null) return;
    // A window with room for one side shows the one that is looked at.
    this.workspace.oneSide.value = side;
    const other = brief.partner ?? GAP;
    const [t, g] = side === "t" ? [brief.id, other] : [other, brief.id];
    this.selected.value = { side, id: brief.id, name: brief.name, t, g };
    this.loadDetail(side, brief.id);
  }

  private viewOf(side: Side): GraphView | undefined {
    return this.workspace.views.value.find((view) => view.sides === side || view.sides === "both");
  }

  /** The selected node on a side; where it has no partner there, the box around it; 0: nothing. */
  idOn(side: Side): number {
    const { value: selected } = this.selected;
    if (selected === null) return 0;
    if (selected[side] >= 0) return selected[side];
    const key = side === "t" ? "target" : "golden";
    let row = this.active.value?.cursor.value?.parent ?? null;
    while (row !== null && row[key] < 0) row = row.parent;
    return row?.[key] ?? 0;
  }

  pathOptions(side: Side): PathOptions {
    return this.viewOf(side)?.pathOptions ?? { alone: false, page: 0 };
  }

  /**
   * Opens and scrolls all trees to a node, and selects it; in whatever micro step it is, as lists and
   * searches name those of all. False: it is not there.
   */
  async go(node: NodeRef, path?: NodePath): Promise<boolean> {
    const { u, micro, views } = this.workspace;
    const { value: shown } = views;
    if (await this.goIfShown(node, path)) return true;
    if (micro.value === null || shown.length === 0) return false;
    if (!(await this.workspace.showUnit(u.value, null))) return true;
    this.clear();
    this.widened();
    return this.goIfShown(node);
  }

  /** The same where the micro step that is shown is to stay. */
  async goIfShown(node: NodeRef, path?: NodePath): Promise<boolean> {
    this.going.abort();
    const stop = new AbortController();
    this.going = stop;
    try {
      const views = this.workspace.views.value;
      const own = this.viewOf(node.side);
      const spot = await (path === undefined
        ? own?.reveal(node, stop.signal)
        : own?.follow(path, stop.signal));
      if (own === undefined || spot === undefined || spot === null) return stop.signal.aborted;
      const row = await own.row(spot);
      if (stop.signal.aborted || row === undefined) return true;
      this.active.value = own;
      this.selectRow(row, node.side);
      const other = views.find((view) => view !== own);
      const partner = row[node.side]?.partner ?? null;
      if (other !== undefined && partner !== null) {
        const side = node.side === "t" ? "g" : "t";
        await other.reveal({ side, id: partner }, stop.signal);
      }
      return true;
    } catch (error) {
      if (isAbort(error)) return true;
      throw error;
    }
  }

  private loadDetail(side: Side, id: number): void {
    this.loading.abort();
    const stop = new AbortController();
    this.loading = stop;
    const { source, ref } = this.workspace;
    setTimeout(async () => {
      if (stop.signal.aborted) return;
      try {
        const question = () => source.node(ref, side, id, stop.signal);
        const detail = await ask(question, stop.signal);
        if (stop.signal.aborted) return;
        this.detail.value = detail;
        this.detailError.value = null;
      } catch (error) {
        if (isAbort(error)) return;
        this.detail.value = null;
        this.detailError.value = error;
      }
    }, DETAIL_WAIT_MS);
  }

  /** Moves so many rows down or up. */
  move(rows: number): void {
    const view = this.active.value;
    if (view === null) return;
    const from = view.cursor.value;
    const to = from === null ? view.end(false) : view.neighbour(from, rows);
    if (to !== null) void this.select(view, to);
  }

  toEnd(last: boolean): void {
    const view = this.active.value;
    const spot = view?.end(last) ?? null;
    if (view !== null && spot !== null) void this.select(view, spot);
  }

  /** Opens the row, or goes into it when it is open. */
  inward(): void {
    const view = this.active.value;
    const spot = view?.cursor.value;
    if (view === null || spot === null || spot === undefined) return;
    const inner = spot.parent.open.get(spot.at);
    if (inner !== undefined) void this.select(view, { parent: inner, at: 0 });
    else view.open(spot);
  }

  /** Closes the row, or goes to the row around it when it is closed. */
  outward(): void {
    const view = this.active.value;
    const spot = view?.cursor.value;
    if (view === null || spot === null || spot === undefined) return;
    const { parent, at } = spot;
    if (parent.open.has(at)) view.close(spot);
    else if (parent.parent !== null) {
      void this.select(view, { parent: parent.parent, at: parent.at });
    }
  }

  toggle(): void {
    const view = this.active.value;
    if (view?.cursor.value) view.toggle(view.cursor.value);
  }

  openSiblings(): void {
    const view = this.active.value;
    if (view?.cursor.value) view.openSiblings(view.cursor.value);
  }
}
