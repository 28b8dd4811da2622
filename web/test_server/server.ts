/** A stand-in for `msprobe view`: the API over graphs made in memory, and the built page. */

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { EmbeddedSource } from "../src/api/embedded_source";
import { ApiError } from "../src/api/source";
import type { EmbeddedData, Filter, Side } from "../src/api/types";
import { deep, hostile, singleGraph, transformer, verdicts, wide } from "./graphs";
import { HandMatches } from "./hand_matches";

const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  css: "text/css",
};

/** Files that the server offers; made when first opened, `slow` is read until somebody cancels that. */
export const MAKERS: Record<string, (file: string) => EmbeddedData> = {
  "compare_step*_rank*_20261129.vis": (file) => transformer(file, 6, 8, 2),
  "compare_other.vis": (file) => transformer(file, 3, 1, 1, 3),
  "build_one.vis": singleGraph,
  "wide.vis": (file) => wide(file, 10_000),
  "deep.vis": (file) => deep(file, 400),
  "hostile.vis": hostile,
  "verdicts.vis": verdicts,
  "slow.vis": (file) => transformer(file, 2, 1),
};

class TestServer {
  private readonly data = new Map<string, EmbeddedData>();
  private readonly sources = new Map<string, EmbeddedSource>();
  private readonly matches = new Map<string, HandMatches>();
  private loading = 0;
  private cancelled = false;

  constructor(private readonly page: string) {}

  private source(file: string): EmbeddedSource {
    let source = this.sources.get(file);
    if (source === undefined) {
      const make = MAKERS[file];
      if (make === undefined) {
        throw new ApiError(404, "there is no such file", "choose one of the list", file);
      }
      const data = make(file);
      source = new EmbeddedSource(data);
      this.data.set(file, data);
      this.sources.set(file, source);
    }
    return source;
  }

  private handMatches(file: string, u: number): HandMatches {
    const key = `${file} ${u}`;
    const existing = this.matches.get(key);
    if (existing !== undefined) return existing;
    this.source(file);
    const made = new HandMatches(this.data.get(file) as EmbeddedData, u, () => {
      this.sources.set(file, new EmbeddedSource(this.data.get(file) as EmbeddedData));
    });
    this.matches.set(key, made);
    return made;
  }

  private files(): object {
    const files = Object.keys(MAKERS).map((file) => ({
      file,
      kind: file.endsWith(".db") ? "db" : "vis",
      type: file.startsWith("compare") ? "compare" : file.startsWith("build") ? "build" : "",
      bytes: 1_234_567,
      modified: 1_795_910_400,
    }));
    return { root: "/data/out", files, notes: [] };
  }

  private async open(file: string): Promise<object> {
    if (file === "slow.vis" && !this.cancelled) {
      this.loading = Math.min(this.loading + 10, 90);
      return { state: "loading", phase: "reading", done: this.loading * 1e6, total: 1e8 };
    }
    return this.source(file).open(file, 0);
  }

  async answer(
    method: string,
    route: string,
    query: URLSearchParams,
    body: string,
  ): Promise<unknown> {
    const text = (name: string) => query.get(name) ?? "";
    const number = (name: string, fallback: number) => Number(query.get(name) ?? fallback);
    const file = text("file");
    if (route === "files") return this.files();
    if (route === "open" && method === "DELETE") {
      this.cancelled = true;
      return {};
    }
    if (route === "open") return this.open(file);
    const unit = { file, u: number("u", 0) };
    if (route === "matches") return this.handMatches(file, unit.u).answer(method, body);
    if (route === "matches.yaml") return this.handMatches(file, unit.u).yaml();
    const source = this.source(file);
    const side = (query.get("side") ?? "t") as Side;
    const page = [number("offset", 0), number("limit", 200)] as const;
    const filter = { by: text("by") || "suspicious", value: text("value") } as Filter;
    const micro = query.has("micro") ? number("micro", 0) : null;
    const node = query.has("name") ? { side, name: text("name") } : { side, id: number("id", 0) };
    const options = { alone: query.get("alone") === "1", page: number("page", 0) };
    switch (route) {
      case "rows":
        return source.rows(unit, number("t", 0), number("g", 0), ...page, micro);
      case "inside": {
        const of = text("of")
          .split(",")
          .map((row) => row.split(".").map(Number));
        return { inside: await source.inside(unit, of as [number, number][], page[1]) };
      }
      case "path":
        return source.path(unit, node, options);
      case "list":
        return source.list(unit, filter, side, ...page);
      case "search":
        return source.search(unit, text("q"), (query.get("side") ?? "b") as Side | "b", ...page);
      case "seek": {
        const from = { side, id: number("id", 0) };
        const found = await source.seek(unit, from, number("dir", 1) > 0, filter, options);
        return found ?? { item: null };
      }
      case "node":
        return source.node(unit, side, number("id", 0));
      case "overview":
        return { bins: await source.overview(unit, number("bins", 400)) };
      case "divergence":
        return source.divergence(unit);
      default:
        throw new ApiError(404, "there is no such request", "", route);
    }
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://localhost");
    let body = "";
    for await (const chunk of request) body += String(chunk);
    if (!url.pathname.startsWith("/api/")) {
      this.file(url.pathname, response);
      return;
    }
    try {
      const route = url.pathname.slice("/api/".length);
      const answer = await this.answer(request.method ?? "GET", route, url.searchParams, body);
      const yaml = typeof answer === "string";
      response.writeHead(200, { "Content-Type": yaml ? "text/yaml" : "application/json" });
      response.end(yaml ? answer : JSON.stringify(answer));
    } catch (error) {
      const known = error instanceof ApiError ? error : new ApiError(500, String(error), "", "");
      response.writeHead(known.status, { "Content-Type": "application/json" });
      const { fact, advice, path } = known;
      response.end(JSON.stringify({ error: { fact, advice, path } }));
    }
  }

  private file(path: string, response: ServerResponse): void {
    const name = path === "/" ? "index.html" : path.slice(1);
    try {
      const type = TYPES[name.split(".").pop() ?? ""] ?? "application/octet-stream";
      const bytes = readFileSync(join(this.page, name.replaceAll("..", "")));
      response.writeHead(200, {
        "Content-Type": type,
        "Content-Security-Policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:",
      });
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  }
}

export function startServer(page: string): Server {
  const server = new TestServer(page);
  return createServer((request, response) => void server.handle(request, response));
}
