// @vitest-environment node
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { transformer } from "../../test_server/graphs";
import { startServer } from "../../test_server/server";
import { EmbeddedSource } from "./embedded_source";
import { HttpSource } from "./http_source";
import { ApiError, MOST_ROWS_AT_ONCE, type Source } from "./source";
import type { ReadyFile } from "./types";

const FILE = "compare_step*_rank*_20261129.vis";
const server = startServer("dist");
const unit = { file: FILE, u: 3 };

beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
afterAll(() => server.close());

const sources: [string, () => Source][] = [
  ["EmbeddedSource", () => new EmbeddedSource(transformer(FILE, 6, 8, 2))],
  [
    "HttpSource",
    () => new HttpSource(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`),
  ],
];

const TOGETHER = { alone: false, page: 0 };

describe.each(sources)("%s", (_name, make) => {
  it("opens a file and describes its units", async () => {
    const file = (await make().open(FILE, 0)) as ReadyFile;
    expect(file.state).toBe("ready");
    expect(file.units.map((one) => [one.step, one.rank]).slice(6, 10)).toEqual([
      [0, 6],
      [0, 7],
      [1, 0],
      [1, 1],
    ]);
    const counts = file.units[3]?.counts;
    expect(counts?.unmatched).toEqual([1, 3]);
    expect(file.units[3]?.culprits).toBe(1);
  });

  it("lists files", async () => {
    expect((await make().files()).files.map((file) => file.file)).toContain(FILE);
  });

  it("aligns rows, with gaps in their place", async () => {
    const source = make();
    const { rows } = await source.path(
      unit,
      { side: "t", name: "Tensor.mul_.0.forward" },
      TOGETHER,
    );
    const [, layer, attn, node] = rows;
    expect(node).toMatchObject({ g: -1, at: 2, total: 6 });
    const page = await source.rows(unit, attn?.t ?? 0, attn?.g ?? 0, 0, 100, null);
    expect(page.total).toBe(6);
    expect(page.rows.map((row) => row.t?.label ?? null)[2]).toBe("Tensor.mul_.0");
    expect(page.rows[2]?.g).toBeNull();
    expect(page.rows[2]?.index).toBeNull();
    expect(page.rows[1]?.index).not.toBeNull();
    expect(layer?.total).toBe(6);
  });

  it("pages rows", async () => {
    const source = make();
    const whole = await source.rows(unit, 0, 0, 0, 100, null);
    const part = await source.rows(unit, 0, 0, 1, 1, null);
    expect(part).toEqual({ total: whole.total, offset: 1, rows: [whole.rows[1]] });
  });

  it("shows one side alone", async () => {
    const source = make();
    const gap = { side: "g" as const, name: "Functional.dropout.0.forward" };
    const together = await source.path(unit, gap, TOGETHER);
    const alone = await source.path(unit, gap, { alone: true, page: 0 });
    expect(together.rows.map((row) => row.t)).toEqual(
      [1, 2, -1].map((_, i) => together.rows[i]?.t),
    );
    expect(alone.rows.every((row) => row.t === -1)).toBe(true);
    const row = alone.rows[1];
    const page = await source.rows(unit, -1, row?.g ?? 0, 0, 100, null);
    expect(page.rows.at(-1)?.g?.name).toBe("Functional.dropout.0.forward");
  });

  it("keeps to a micro step", async () => {
    const other = { file: FILE, u: 8 };
    const all = await make().rows(other, 0, 0, 0, 100, null);
    const one = await make().rows(other, 0, 0, 0, 100, 1);
    expect(one.total).toBe(all.total / 2);
    expect(one.rows.every((row) => row.t?.micro === 1)).toBe(true);
  });

  it("lists by band, status, role and partner, in execution order", async () => {
    const source = make();
    const file = (await source.open(FILE, 0)) as ReadyFile;
    const worst = await source.list(unit, { by: "band", value: "4" }, "t", 0, 100);
    expect(worst.total).toBe(file.units[3]?.counts.bands[4]);
    expect(worst.items.map((item) => item.label).slice(0, 3)).toEqual([
      "layers.1",
      "attn",
      "Functional.softmax.1",
    ]);
    const unmatched = await source.list(unit, { by: "unmatched", value: "" }, "g", 0, 2);
    expect(unmatched.total).toBe(3);
    expect(unmatched.items).toHaveLength(2);
    const culprits = await source.list(unit, { by: "role", value: "culprit" }, "t", 0, 9);
    expect(culprits.items.map((item) => item.name)).toEqual(["Functional.softmax.1.forward"]);
  });

  it("searches both sides without regard to case, with stars", async () => {
    const source = make();
    expect((await source.search(unit, "SOFTMAX", "b", 0, 5)).total).toBe(12);
    expect((await source.search(unit, "soft*.3", "t", 0, 5)).total).toBe(1);
    expect((await source.search(unit, "max*soft", "b", 0, 5)).total).toBe(0);
    expect((await source.search(unit, "*", "t", 0, 5)).total).toBe(103);
  });

  it("searches along the path where a query has stars in it", async () => {
    const source = make();
    const names = async (query: string) =>
      (await source.search(unit, query, "t", 0, 50)).items.map((item) => item.name);
    const softmax = "Functional.softmax.1.forward";
    expect(await names("layers.1*softmax")).toEqual([softmax]);
    expect(await names("decoder*layers.1*attn*SOFT*.1")).toEqual([softmax]);
    // What is looked for last is in the name of the node itself.
    expect(await names("softmax*layers.1")).toEqual([]);
    expect(await names("softmax.1")).toEqual([softmax]);
    expect(await names("layers.1softmax")).toEqual([]);
    // The root is around all of them.
    expect(await names("default*softmax")).toEqual([]);
    expect((await names("layers.1*attn*")).every((name) => name.includes("attn"))).toBe(true);
  });

  it("seeks the next and the previous", async () => {
    const source = make();
    const filter = { by: "suspicious", value: "" } as const;
    const from = (id: number) => ({ side: "t" as const, id });
    const first = await source.seek(unit, from(0), true, filter, TOGETHER);
    expect(first?.item.label).toBe("layers.1");
    const id = first?.item.id ?? 0;
    const second = await source.seek(unit, from(id), true, filter, { alone: false, page: 3 });
    expect(second?.item.label).toBe("attn");
    // The way to it comes along, with the rows around it.
    expect(second?.path.rows.map((row) => row.at)).toEqual([1, 1, 1]);
    expect(second?.path.page?.offset).toBe(0);
    expect(second?.path.page?.rows.map((row) => row.t?.label)).toEqual(["ln1", "attn", "ln2"]);
    const back = await source.seek(unit, from(second?.item.id ?? 0), false, filter, TOGETHER);
    expect(back?.item.id).toBe(id);
    expect(await source.seek(unit, from(id), false, filter, TOGETHER)).toBeNull();
  });

  it("tells what is inside of many rows at once, as it tells it of one", async () => {
    const source = make();
    const top = await source.rows(unit, 0, 0, 0, 100, null);
    const decoder = top.rows[1];
    const of = [[0, 0] as const, [decoder?.t?.id ?? 0, decoder?.g?.id ?? 0] as const];
    const [first, second] = await source.inside(unit, of, 2);
    expect(first?.rows).toEqual(top.rows.slice(0, 2));
    expect(second?.rows.map((row) => row.t?.label)).toEqual(["layers.0", "layers.1"]);
  });

  it("tells a node, the overview and the first divergence", async () => {
    const source = make();
    const divergence = await source.divergence(unit);
    expect(divergence.total).toBe(1);
    expect(divergence.victims).toBeGreaterThan(10);
    const culprit = divergence.culprits[0];
    expect(culprit?.frame).toContain("attention.py");
    const detail = await source.node(unit, "t", culprit?.id ?? 0);
    expect(detail.path.map((step) => step.label)).toEqual([
      "DefaultModel",
      "decoder",
      "layers.1",
      "attn",
      "Functional.softmax.1",
    ]);
    expect(detail.values.map((value) => value.key)).toEqual(["input.0", "input.dim", "output.0"]);
    const bins = await source.overview(unit, 10);
    expect(bins).toHaveLength(10);
    expect(Math.max(...bins.map((bin) => bin.worst ?? 0))).toBe(1);
    // The root, and the first box: all of it is fine.
    const { status, status_id, overflow, overflow_id } =
      (await source.overview(unit, 1000))[0] ?? {};
    expect({ status, status_id, overflow, overflow_id }).toEqual({
      ...{ status: "", status_id: 0, overflow: "", overflow_id: 0 },
    });
    const { total, items } = await source.list(unit, { by: "unmatched", value: "" }, "t", 0, 1);
    const [whole] = await source.overview(unit, 1);
    expect(total).toBeGreaterThan(0);
    expect([whole?.unmatched, whole?.unmatched_id]).toEqual([total, items[0]?.id]);
    const errors = await source.list(unit, { by: "status", value: "error" }, "t", 0, 1);
    expect([whole?.status, whole?.status_id]).toEqual(["error", errors.items[0]?.id]);
  });

  it("says what went wrong", async () => {
    const wrong = make().path(unit, { side: "t", name: "nothing" }, TOGETHER);
    await expect(wrong).rejects.toBeInstanceOf(ApiError);
    await expect(wrong).rejects.toMatchObject({ status: 404, fact: "no node has this name" });
  });
});

it("asks for the version of a file that it opened, until the file is opened anew", async () => {
  const asked: string[] = [];
  let version = 7;
  vi.stubGlobal("fetch", async (address: string, { method }: RequestInit) => {
    asked.push(`${method} ${address.replace("/api/", "")}`);
    return Response.json({ state: "ready", units: [], version: String(version) });
  });
  const source = new HttpSource("/api/");
  const ref = { file: "a.vis", u: 1 };
  await source.open("a.vis", 1);
  await source.node(ref, "t", 3);
  await source.match(ref, 1, 2, false);
  await source.open("a.vis", 1, undefined, true);
  await source.node({ file: "b.vis", u: 0 }, "t", 3);
  version = 8;
  await source.open("a.vis", 1);
  await source.unmatch(ref, { t: 1, g: 2 });
  vi.unstubAllGlobals();
  expect(asked).toEqual([
    "GET open?file=a.vis&u=1",
    "GET node?file=a.vis&u=1&v=7&side=t&id=3",
    "POST matches?file=a.vis&u=1&v=7",
    "GET open?file=a.vis&u=1&v=7",
    "GET node?file=b.vis&u=0&side=t&id=3",
    "GET open?file=a.vis&u=1",
    "DELETE matches?file=a.vis&u=1&v=8",
  ]);
});

it("looks into no more rows at once than the server takes", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (address: string) => {
    asked.push(new URL(address, "http://server").searchParams.get("of") ?? "");
    return Response.json({ inside: [] });
  });
  const of = Array.from({ length: 201 }, (_, id) => [id, -1] as const);
  await new HttpSource("/api/").inside({ file: "a.vis", u: 0 }, of, 100);
  vi.unstubAllGlobals();
  expect(asked.map((text) => text.split(",").length)).toEqual([MOST_ROWS_AT_ONCE]);
  expect(asked[0]).toMatch(/^0\.-1,.*,199\.-1$/);
});
