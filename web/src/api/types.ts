/** The JSON of the viewer's API, as docs/viewer-api.md describes it. */

export type Side = "t" | "g";
export type NodeStatus = "pass" | "warning" | "error" | "unreadable" | "unmatched" | "";
export type StatusInside = "" | "warning" | "unreadable" | "error";
export type Overflow = "" | "medium" | "high" | "critical";
export type NodeKind = "module" | "api" | "collection" | "root";
export type Role = "" | "culprit" | "victim" | "amplifier" | "collective" | "undecidable";

/** No node: the gap of a row. */
export const GAP = -1;

export interface FileEntry {
  file: string;
  kind: "vis" | "db" | "dump";
  type: "compare" | "build" | "";
  bytes: number;
  /** Seconds since the epoch. */
  modified: number;
}

export interface FileList {
  root: string;
  files: FileEntry[];
  notes: string[];
}

export interface Band {
  color: string;
  lo: number;
  hi: number;
  label: string;
}

export interface UnitCounts {
  bands: number[];
  unmatched: [number, number];
  pass: number;
  warning: number;
  error: number;
  unreadable: number;
  overflow: { medium: number; high: number; critical: number };
}

export interface Unit {
  step: number | null;
  rank: number | null;
  micro_steps: number;
  nodes: [number, number];
  worst: number | null;
  culprits: number;
  /** Nodes that differ, of which it cannot be told who is to blame. */
  undecided: number;
  counts: UnitCounts;
  /** The run in parts: the worst band of each, 'u' for unmatched, '.' for nothing. */
  strip?: string;
  /** The same of status: 'w' warning, 'r' unreadable, 'e' error. Absent: nothing to tell. */
  strip_status?: string;
  /** The same of overflow: 'm' medium, 'h' high, 'c' critical. */
  strip_overflow?: string;
  /** The dumps of both sides, where they are known; a graph alone has one. */
  from?: string[];
  /** True until the server has summed the unit up. */
  pending?: boolean;
  /** Why the unit cannot be read. */
  error?: string;
}

/** A unit as servers answer it: without sums while it is pending or when it cannot be read. */
export type UnitAnswer = Pick<Unit, "step" | "rank"> & Partial<Unit>;

export interface ReadyFile {
  state: "ready";
  file: string;
  type: "compare" | "build";
  mode: "statistics" | "real_data" | "md5" | "structure";
  overflow: boolean;
  can_match: boolean;
  bands: Band[];
  units: Unit[];
  notes: string[];
}

export interface LoadingFile {
  state: "loading";
  phase: string;
  done: number;
  total: number;
}

export interface Verdict {
  kind: NodeKind;
  index: number | null;
  worst: number | null;
  status: NodeStatus;
  overflow: Overflow;
  role: Role;
}

export interface Brief extends Verdict {
  id: number;
  name: string;
  label: string;
  cls: string;
  dir: "f" | "b" | "";
  shape: string;
  n: number;
  inside: number;
  /** The worst below it. */
  overflow_inside: Overflow;
  /** How many nodes below have it. */
  overflow_count: number;
  /** The worst below it, if it is worse than passing. */
  status_inside: StatusInside;
  status_count: number;
  micro: number;
  partner: number | null;
  /** Place in execution order; UnitData counts it where a brief lacks it. */
  order?: number;
}

export interface Row {
  n: number;
  index: number | null;
  t: Brief | null;
  g: Brief | null;
}

export interface Item extends Verdict {
  side: Side;
  id: number;
  name: string;
  label: string;
}

export interface Page<T> {
  total: number;
  offset: number;
  items: T[];
}

export interface RowPage {
  total: number;
  offset: number;
  rows: Row[];
}

export interface PathStep {
  t: number;
  g: number;
  at: number;
  total: number;
}

export interface NodePath {
  side: Side;
  id: number;
  rows: PathStep[];
  /** The page of rows in which the node stands, if it was asked for. */
  page?: { offset: number; rows: Row[] };
}

/** The first rows inside of a row. */
export interface Inside {
  t: number;
  g: number;
  rows: Row[];
}

export type RecordedSide = Partial<
  Record<
    | "type"
    | "dtype"
    | "shape"
    | "Max"
    | "Min"
    | "Mean"
    | "Norm"
    | "value"
    | "md5"
    | "requires_grad"
    | "data_name",
    string
  >
>;

export interface RecordedValue {
  key: string;
  section: "input" | "output" | "parameter";
  target: RecordedSide | null;
  golden: RecordedSide | null;
  metrics: Record<string, string | number>;
  status: NodeStatus;
  reason: string;
  /** How many elements are how many units in the last place apart: `0:20 1:3 2-3:1`. */
  ulps?: string;
  differs?: string[];
}

export interface Detail {
  node: Item;
  cls: string;
  dir: "f" | "b" | "";
  micro: number;
  reason: string;
  partner: { id: number; name: string } | null;
  path: { id: number; label: string }[];
  stack: { target: string[]; golden: string[] };
  values: RecordedValue[];
  peers: { rank: string; name: string; u: number }[];
}

export interface OverviewBin {
  worst: number | null;
  unmatched: number;
  /** The first of them. */
  unmatched_id: number;
  side: Side;
  id: number;
  /** The worst in it, and the first node that has it. */
  status: StatusInside;
  status_id: number;
  overflow: Overflow;
  overflow_id: number;
}

/** A node that diverges, why, and the line of source that called it. */
export interface Divergence {
  id: number;
  name: string;
  reason: string;
  frame: string;
}

export interface DivergenceReport {
  total: number;
  victims: number;
  undecided: number;
  culprits: Divergence[];
  /** Where there is no culprit: the first node that differs, or else the first error. */
  first_difference: Divergence | null;
}

export interface IdPair {
  t: number;
  g: number;
}

export interface ManualPair extends IdPair {
  target: string;
  golden: string;
}

export interface ManualAction extends ManualPair {
  count: number;
}

export interface ManualPairs {
  total: number;
  pairs: ManualPair[];
  /** The first pair of the last action, and how many it has; null: nothing can be undone. */
  undo: ManualAction | null;
  /** A layer mapping can say at least one of them. */
  mapping: boolean;
}

/** Which nodes a list holds. */
export interface Filter {
  by: "band" | "status" | "unmatched" | "overflow" | "role" | "suspicious";
  value: string;
}

/** A brief with its parent: how an exported report holds the hierarchy. */
export interface EmbeddedBrief extends Brief {
  /** -1 for the root. */
  parent: number;
}

export interface EmbeddedUnit {
  /** In execution order: depth first, parents first. */
  target: EmbeddedBrief[];
  /** Empty for single graphs. */
  golden: EmbeddedBrief[];
  /** By node id. */
  details: { t: Record<string, Detail>; g: Record<string, Detail> };
}

/** What a report made by `msprobe view --export` carries. */
export interface EmbeddedData {
  version: 1;
  open: ReadyFile;
  units: EmbeddedUnit[];
}
