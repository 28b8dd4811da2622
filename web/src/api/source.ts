/** Where the viewer's data comes from: a server, or the page itself (an exported report). */

import type {
  Detail,
  DivergenceReport,
  FileList,
  Filter,
  IdPair,
  Inside,
  Item,
  LoadingFile,
  ManualPairs,
  NodePath,
  OverviewBin,
  Page,
  ReadyFile,
  RowPage,
  Side,
} from "./types";

/** What went wrong, in the words of the server. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly fact: string,
    readonly advice: string,
    readonly path: string,
  ) {
    super(fact);
  }
}

/** What a page takes for the last action. */
export type LastAction = IdPair & { count: number };

/** The server refuses to look into more rows at once. */
export const MOST_ROWS_AT_ONCE = 200;

/** A place in a file: unit `u` is one step and rank. */
export interface UnitRef {
  file: string;
  u: number;
}

export type NodeRef = { side: Side } & ({ id: number } | { name: string });

export interface PathOptions {
  /** Among the nodes of its own side only, as a side without the other shows them. */
  alone: boolean;
  /** Rows of a page. */
  page: number;
}

/** A node of a list and the way to it. */
export interface Found {
  item: Item;
  path: NodePath;
}

export interface Source {
  files(signal?: AbortSignal): Promise<FileList>;
  /** Ready as soon as unit `u` can be shown; `again`: of the file as it was opened before. */
  open(
    file: string,
    u: number,
    signal?: AbortSignal,
    again?: boolean,
  ): Promise<ReadyFile | LoadingFile>;
  cancel(file: string): Promise<void>;
  rows(
    unit: UnitRef,
    t: number,
    g: number,
    offset: number,
    limit: number,
    micro: number | null,
    signal?: AbortSignal,
  ): Promise<RowPage>;
  /** The first `limit` rows inside of each of these rows; some may be missing. */
  inside(
    unit: UnitRef,
    of: readonly (readonly [t: number, g: number])[],
    limit: number,
    signal?: AbortSignal,
  ): Promise<Inside[]>;
  path(unit: UnitRef, node: NodeRef, options: PathOptions, signal?: AbortSignal): Promise<NodePath>;
  list(
    unit: UnitRef,
    filter: Filter,
    side: Side,
    offset: number,
    limit: number,
    signal?: AbortSignal,
  ): Promise<Page<Item>>;
  search(
    unit: UnitRef,
    query: string,
    side: Side | "b",
    offset: number,
    limit: number,
    signal?: AbortSignal,
  ): Promise<Page<Item>>;
  seek(
    unit: UnitRef,
    from: { side: Side; id: number },
    forward: boolean,
    filter: Filter,
    options: PathOptions,
    signal?: AbortSignal,
  ): Promise<Found | null>;
  node(unit: UnitRef, side: Side, id: number, signal?: AbortSignal): Promise<Detail>;
  overview(unit: UnitRef, bins: number, signal?: AbortSignal): Promise<OverviewBin[]>;
  divergence(unit: UnitRef, signal?: AbortSignal): Promise<DivergenceReport>;
  matches(unit: UnitRef, offset: number, limit: number, signal?: AbortSignal): Promise<ManualPairs>;
  match(unit: UnitRef, t: number, g: number, children: boolean): Promise<void>;
  /** Takes back a pair, or the last action if that is still known by `last`. */
  unmatch(unit: UnitRef, what: IdPair | { last: LastAction }): Promise<void>;
  /** Address of the pairs as a layer mapping; null where nothing can be saved. */
  matchesYaml(unit: UnitRef): string | null;
}
