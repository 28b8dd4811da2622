/** The viewer's API over HTTP. */

import {
  ApiError,
  type Found,
  MOST_ROWS_AT_ONCE,
  type NodeRef,
  type Source,
  type UnitRef,
} from "./source";
import type {
  Filter,
  Inside,
  Item,
  LoadingFile,
  Page,
  ReadyFile,
  Side,
  Unit,
  UnitAnswer,
} from "./types";

type OpenAnswer =
  | LoadingFile
  | (Omit<ReadyFile, "units"> & { units: UnitAnswer[]; version?: string });

/** A unit that is not summed up yet counts nothing. */
function completeUnit(unit: UnitAnswer): Unit {
  return {
    micro_steps: 1,
    nodes: [0, 0],
    worst: null,
    culprits: 0,
    undecided: 0,
    ...unit,
    counts: unit.counts ?? {
      ...{ bands: [], unmatched: [0, 0], pass: 0, warning: 0, error: 0, unreadable: 0 },
      overflow: { medium: 0, high: 0, critical: 0 },
    },
  };
}

type Parameters = Record<string, string | number>;

export class HttpSource implements Source {
  /** `base` is the address of the API, ending in a slash; relative ones count from the page. */
  constructor(private readonly base: string) {}

  /** Of the files that were opened: units and nodes have their numbers in this version alone. */
  private readonly versions = new Map<string, string>();

  private known<Ref extends { file: string }>(ref: Ref): Ref & { v?: string } {
    const v = this.versions.get(ref.file);
    return v === undefined ? ref : { ...ref, v };
  }

  private address(route: string, parameters: Parameters): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
    const text = query.toString();
    return `${this.base}${route}${text === "" ? "" : `?${text}`}`;
  }

  private async ask<T>(
    method: string,
    route: string,
    parameters: Parameters,
    signal?: AbortSignal,
    body?: unknown,
  ): Promise<T> {
    const request: RequestInit = { method, headers: { Accept: "application/json" } };
    if (signal !== undefined) request.signal = signal;
    if (body !== undefined) {
      request.body = JSON.stringify(body);
      request.headers = { ...request.headers, "Content-Type": "application/json" };
    }
    const answer = await fetch(this.address(route, parameters), request);
    if (answer.ok) return (await answer.json()) as T;
    let error = { fact: `the server answered with status ${answer.status}`, advice: "", path: "" };
    try {
      error = { ...error, ...((await answer.json()) as { error: typeof error }).error };
    } catch {
      // Not from our server: the status is all there is to say.
    }
    throw new ApiError(answer.status, error.fact, error.advice, error.path);
  }

  private get<T>(route: string, parameters: Parameters, signal?: AbortSignal): Promise<T> {
    return this.ask("GET", route, parameters, signal);
  }

  files: Source["files"] = (signal) => this.get("files", {}, signal);
  open: Source["open"] = async (file, u, signal, again) => {
    if (!again) this.versions.delete(file);
    const answer = await this.get<OpenAnswer>("open", this.known({ file, u }), signal);
    if (answer.state === "loading") return answer;
    const { version, ...ready } = answer;
    if (version !== undefined) this.versions.set(file, version);
    return { ...ready, units: answer.units.map(completeUnit) };
  };
  cancel: Source["cancel"] = (file) => this.ask("DELETE", "open", { file });

  rows: Source["rows"] = (unit, t, g, offset, limit, micro, signal) =>
    this.get(
      "rows",
      { ...this.known(unit), t, g, offset, limit, ...(micro === null ? {} : { micro }) },
      signal,
    );

  inside: Source["inside"] = async (unit, of, limit, signal) => {
    // The others are asked for when these have come.
    const asked = of.slice(0, MOST_ROWS_AT_ONCE);
    const text = asked.map(([t, g]) => `${t}.${g}`).join(",");
    return (
      await this.get<{ inside: Inside[] }>(
        "inside",
        { ...this.known(unit), of: text, limit },
        signal,
      )
    ).inside;
  };

  path: Source["path"] = (unit: UnitRef, node: NodeRef, { alone, page }, signal) =>
    this.get(
      "path",
      { ...this.known(unit), ...node, page, ...(alone ? { alone: 1 } : {}) },
      signal,
    );

  list: Source["list"] = (unit, filter: Filter, side, offset, limit, signal) =>
    this.get("list", { ...this.known(unit), ...filter, side, offset, limit }, signal);

  search: Source["search"] = (unit, q, side, offset, limit, signal): Promise<Page<Item>> =>
    this.get("search", { ...this.known(unit), q, side, offset, limit }, signal);

  seek: Source["seek"] = async (unit, from, forward, filter, { alone, page }, signal) => {
    const parameters = {
      ...this.known(unit),
      ...from,
      dir: forward ? 1 : -1,
      ...filter,
      path: 1,
      page,
    };
    const answer = await this.get<Found | { item: null }>(
      "seek",
      alone ? { ...parameters, alone: 1 } : parameters,
      signal,
    );
    return answer.item === null ? null : answer;
  };

  node: Source["node"] = (unit, side: Side, id, signal) =>
    this.get("node", { ...this.known(unit), side, id }, signal);

  overview: Source["overview"] = async (unit, bins, signal) =>
    (
      await this.get<{ bins: Awaited<ReturnType<Source["overview"]>> }>(
        "overview",
        { ...this.known(unit), bins },
        signal,
      )
    ).bins;

  divergence: Source["divergence"] = (unit, signal) =>
    this.get("divergence", { ...this.known(unit) }, signal);
  matches: Source["matches"] = (unit, offset, limit, signal) =>
    this.get("matches", { ...this.known(unit), offset, limit }, signal);

  match: Source["match"] = async (unit, t, g, children) => {
    await this.ask("POST", "matches", { ...this.known(unit) }, undefined, { t, g, children });
  };
  unmatch: Source["unmatch"] = async (unit, what) => {
    await this.ask("DELETE", "matches", { ...this.known(unit) }, undefined, what);
  };
  matchesYaml: Source["matchesYaml"] = (unit) =>
    this.address("matches.yaml", { ...this.known(unit) });
}
