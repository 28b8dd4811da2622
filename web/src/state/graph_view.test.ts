// @vitest-environment node
import { describe, expect, it, vi } from "vitest";
import { deep, transformer, wide } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import { type Brief, GAP, type Side } from "../api/types";
import { type OpenRow, ROW_UNITS, RowTree } from "../model/row_tree";
import { GraphView, isRow, type Sides } from "./graph_view";
import { OpenNodes } from "./open_nodes";

async function viewOf(data = transformer("f", 6, 8, 2), sides: Sides = "both", u = 3) {
  const micro = data.open.units[u]?.micro_steps === 2 ? 1 : null;
  const view = new GraphView(new EmbeddedSource(data), { file: "f", u }, sides, micro, true);
  await view.start();
  return view;
}

function labels(view: GraphView): string[] {
  return view
    .window(0, view.tree.height)
    .lines.filter(isRow)
    .map((line) => line.row?.t?.label ?? line.row?.g?.label ?? "…");
}

const settled = () => new Promise((done) => setTimeout(done, 0));

describe("GraphView", () => {
  it("opens all around a node and puts the cursor on it", async () => {
    const view = await viewOf();
    const spot = await view.reveal({ side: "t", name: "Functional.softmax.1.forward" });
    expect(spot).not.toBeNull();
    view.window(0, 400);
    await settled();
    expect(labels(view)).toContain("Functional.softmax.1");
    expect((await view.row(spot as NonNullable<typeof spot>))?.t?.label).toBe(
      "Functional.softmax.1",
    );
    expect(view.wanted.value?.center).toBe(true);
  });

  it.each<Side>(["t", "g"])("finds a node in side %s alone", async (sides) => {
    const view = await viewOf(undefined, sides);
    const spot = await view.reveal({ side: sides, name: "Torch.matmul.4.forward" });
    const row = await view.row(spot as NonNullable<typeof spot>);
    expect(row?.[sides]?.name).toBe("Torch.matmul.4.forward");
    expect(row?.[sides === "t" ? "g" : "t"]).toBeNull();
  });

  it("finds a node among the rows of a micro step", async () => {
    const view = await viewOf(undefined, "both", 8);
    expect(view.tree.root.count).toBe(4);
    const spot = await view.reveal({ side: "t", name: "Apis_Between_Modules.1" });
    const row = await view.row(spot as NonNullable<typeof spot>);
    expect(row?.t?.name).toBe("Apis_Between_Modules.1");
    expect(await view.reveal({ side: "t", name: "Apis_Between_Modules.0" })).toBeNull();
  });

  it("walks over rows and skips closing lines", async () => {
    const view = await viewOf();
    view.open({ parent: view.tree.root, at: 1 });
    const last = view.neighbour({ parent: view.tree.root, at: 1 }, 6);
    expect([last.parent.depth, last.at]).toEqual([1, 5]);
    const after = view.neighbour(last, 1);
    expect([after.parent.depth, after.at]).toEqual([0, 2]);
    expect(view.neighbour(after, -1)).toEqual(last);
    const end = view.end(true);
    expect(end?.at).toBe(view.tree.root.count - 1);
  });

  it("takes the cursor out of a row that closes", async () => {
    const view = await viewOf();
    await view.reveal({ side: "t", name: "Functional.softmax.1.forward" });
    view.closeAll();
    expect(view.cursor.value).toEqual({ parent: view.tree.root, at: 1 });
    expect(view.tree.height).toBe(view.tree.root.count * ROW_UNITS);
  });

  it("loads of 10,000 children only the pages in sight", async () => {
    const view = await viewOf(wide("f", 10_000), "both", 0);
    view.open({ parent: view.tree.root, at: 0 });
    view.window(5_000 * ROW_UNITS, 5_040 * ROW_UNITS);
    await settled();
    const inner = view.tree.root.open.get(0);
    expect([...(inner?.pages.keys() ?? [])]).toEqual([49, 50]);
  });

  it("asks for all levels in sight in one question", async () => {
    const source = new EmbeddedSource(deep("f", 400));
    const rows = vi.spyOn(source, "rows");
    const inside = vi.spyOn(source, "inside");
    const view = new GraphView(source, { file: "f", u: 0 }, "both", null, true);
    await view.start();
    await view.reveal({ side: "t", id: 400 });
    rows.mockClear();
    const show = () => view.window(340 * ROW_UNITS, 380 * ROW_UNITS).lines.filter(isRow);
    show();
    await settled();
    expect(show().every((line) => line.row !== undefined)).toBe(true);
    expect(rows).not.toHaveBeenCalled();
    expect(inside).toHaveBeenCalledTimes(1);
  });

  it("gets what an answer has no room for, too", async () => {
    const source = new EmbeddedSource(deep("f", 400));
    const whole = source.inside;
    source.inside = async (unit, of, limit) => whole(unit, of.slice(0, 15), limit);
    const view = new GraphView(source, { file: "f", u: 0 }, "both", null, true);
    await view.start();
    await view.reveal({ side: "t", id: 400 });
    const show = () => view.window(340 * ROW_UNITS, 380 * ROW_UNITS).lines.filter(isRow);
    for (let i = 0; i < 6; i += 1) {
      show();
      await settled();
    }
    expect(show().every((line) => line.row !== undefined)).toBe(true);
    source.inside = async () => [];
    view.window(100 * ROW_UNITS, 120 * ROW_UNITS);
    await settled();
    const lines = view.window(100 * ROW_UNITS, 120 * ROW_UNITS).lines.filter(isRow);
    expect(lines.every((line) => line.row !== undefined)).toBe(true);
  });

  describe("where what was open is opened again", () => {
    /** Top rows without end, each with ten rows inside. */
    function endless() {
      const asked = { rows: 0, now: 0, most: 0, enough: (): unknown => false };
      const source = new EmbeddedSource(wide("f", 1));
      const [brief] = source.unit(0).t.order;
      source.rows = async (_unit, t, _g, offset, limit, _micro, stop) => {
        stop?.throwIfAborted();
        asked.rows += 1;
        asked.now += 1;
        asked.most = Math.max(asked.most, asked.now);
        asked.enough();
        await settled();
        asked.now -= 1;
        const total = t === 0 ? 1_000_000 : 10;
        const rows = Array.from({ length: Math.min(limit, total - offset) }, (_, i) => {
          const id = t === 0 ? 1 + offset + i : 10_000_000 + 10 * t + i;
          return { t: { ...(brief as Brief), id }, g: null, index: null, n: 10 };
        });
        return { total, offset, rows };
      };
      return { asked, view: new GraphView(source, { file: "f", u: 0 }, "t", null, true) };
    }
    /** Of the top rows these are open, and in each the first row. */
    const openIn = (...ids: number[]) => {
      const tree = new RowTree(0, GAP, 10_000_000);
      for (const id of ids) {
        const row = tree.open(tree.root, id - 1, id, GAP, 10) as OpenRow;
        tree.open(row, 0, 10_000_000 + 10 * id, GAP, 10);
      }
      return new OpenNodes([tree.root]);
    };
    const going = new AbortController().signal;

    it("stops looking for what is not there", async () => {
      const { asked, view } = endless();
      await view.start(going);
      await view.openAgain(openIn(9, 2_000_000), going);
      expect(asked.rows).toBeLessThan(70);
      expect(view.tree.root.open.has(8)).toBe(true);
    });

    it("keeps the pages of what it opens alone", async () => {
      const { view } = endless();
      await view.start(going);
      await view.openAgain(openIn(3, 2_350, 4_020), going);
      expect([...view.tree.root.open.keys()]).toEqual([2, 2_349, 4_019]);
      expect([...view.tree.root.pages.keys()]).toEqual([0, 23, 40]);
    });

    it("does not ask for everything at once, and stops when told so", async () => {
      const { asked, view } = endless();
      const stop = new AbortController();
      await view.start(stop.signal);
      asked.enough = () => asked.rows === 12 && stop.abort();
      const opening = view.openAgain(
        openIn(...Array.from({ length: 50 }, (_, i) => i + 1)),
        stop.signal,
      );
      await expect(opening).rejects.toThrow();
      await settled();
      expect(asked.most).toBeLessThanOrEqual(4);
      expect(asked.rows).toBe(12);
    });
  });

  it("opens a path of depth 400", async () => {
    const view = await viewOf(deep("f", 400), "both", 0);
    const spot = await view.reveal({ side: "t", id: 400 });
    expect(spot?.parent.depth).toBe(399);
    expect(view.around(399 * ROW_UNITS)).toHaveLength(399);
  });
});
