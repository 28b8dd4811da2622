// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { singleGraph, transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import { ApiError, type Source } from "../api/source";
import type { OpenRow } from "../model/row_tree";
import { App } from "./app";
import { GraphView } from "./graph_view";
import { pageTitle } from "./page_title";

/** A source whose answers are held back, or changed, by the test. */
function sourceOf(change: Partial<Source> = {}): Source {
  return Object.assign(new EmbeddedSource(transformer("f", 6, 8, 2)), change);
}

async function opened(source: Source): Promise<App> {
  const app = new App(source);
  await app.show({ ...PLACE, file: "f" });
  return app;
}

const PLACE = {
  ...{ file: null, step: null, rank: null, micro: null, node: null, filter: null },
  ...{ filterSide: "t" as const, coloring: null, linked: null },
};

/** A promise and what fulfils it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((done) => {
    open = done;
  });
  return { opened, open };
}

describe("App", () => {
  it("shows the unit that was asked for last, whichever answers first", async () => {
    const source = sourceOf();
    const app = await opened(source);
    const { open } = source;
    const slow = gate();
    const pending = new Set([1, 2]);
    source.open = async (file, u, signal) => {
      if (u === 1) await slow.opened;
      pending.delete(u);
      const answer = await open(file, u, signal);
      if (answer.state !== "ready") return answer;
      return {
        ...answer,
        units: answer.units.map((unit, i) => ({ ...unit, pending: pending.has(i) })),
      };
    };
    await app.workspace.refreshFile();
    const first = app.showUnit(1);
    expect(await app.showUnit(2)).toBe(true);
    slow.open();
    expect(await first).toBe(false);
    expect(app.workspace.u.value).toBe(2);
    expect(app.workspace.views.value[0]?.unit.u).toBe(2);
    expect(app.workspace.loading.value).toBeNull();
  });

  it("does not put the rows of a file in the place of one that was opened meanwhile", async () => {
    const source = sourceOf();
    const app = await opened(source);
    const { rows } = source;
    const slow = gate();
    const asked = vi.fn();
    source.rows = async (unit, ...rest) => {
      asked(unit.u);
      if (unit.u === 1) await slow.opened;
      return rows(unit, ...rest);
    };
    const first = app.showUnit(1);
    await vi.waitFor(() => expect(asked).toHaveBeenCalledWith(1));
    await app.show({ ...PLACE, file: "f", rank: 2 });
    const shown = app.workspace.views.value;
    slow.open();
    expect(await first).toBe(false);
    expect(app.workspace.views.value).toBe(shown);
  });

  it("says why a unit cannot be shown, and shows another one when it is chosen", async () => {
    const source = sourceOf();
    const app = await opened(source);
    const { rows } = source;
    source.rows = async (unit, ...rest) => {
      if (unit.u === 1) throw new ApiError(422, "the unit is damaged", "record it again", "a.db");
      return rows(unit, ...rest);
    };
    expect(await app.showUnit(1)).toBe(false);
    expect(app.failure.value?.fact).toBe("the unit is damaged");
    expect(app.workspace.views.value).toEqual([]);
    expect(app.workspace.u.value).toBe(1);
    expect(await app.showUnit(2)).toBe(true);
    expect(app.failure.value).toBeNull();
    expect(app.workspace.views.value.length).toBe(1);
  });

  it("forgets the filter where an address names none", async () => {
    const app = await opened(sourceOf());
    const filter = { by: "band" as const, value: "4" };
    await app.show({ ...PLACE, file: "f", filter });
    expect(app.suspects.filter.value).toEqual(filter);
    await app.show({ ...PLACE, file: "f" });
    expect(app.suspects.filtered.value).toBe(false);
  });

  it("goes to a node of another micro step, but lets one choose a micro step without it", async () => {
    const app = new App(new EmbeddedSource(transformer("f", 6, 4, 2)));
    await app.show({ ...PLACE, file: "f", step: 1, rank: 2, micro: 1 });
    await app.suspects.goToCulprit();
    expect(app.navigation.selected.value?.name).toBe("Functional.softmax.1.forward");
    expect(app.workspace.micro.value).toBeNull();
    expect(app.notice.value).not.toBeNull();
    await app.showUnit(app.workspace.u.value, 1);
    expect(app.workspace.micro.value).toBe(1);
  });

  it("names file, step and rank in the title of the page", async () => {
    const app = await opened(sourceOf());
    await app.showUnit(3);
    expect(pageTitle(app.workspace)).toBe("f · step 0 rank 3 · msprobe");
    app.workspace.closeFile();
    expect(pageTitle(app.workspace)).toBe("msprobe");
  });

  it("shows all where the micro step of an address is not in the file, and says so", async () => {
    const app = await opened(sourceOf());
    await app.show({ ...PLACE, file: "f", micro: 7 });
    expect(app.workspace.micro.value).toBeNull();
    expect(app.workspace.views.value[0]?.tree.root.count).toBeGreaterThan(0);
    expect(app.notice.value).toContain("micro step 7");
  });

  it("says that the step or rank of an address is not in the file", async () => {
    const app = await opened(sourceOf());
    expect(app.notice.value).toBeNull();
    await app.show({ ...PLACE, file: "f", step: 0, rank: 77 });
    expect(app.notice.value).not.toBeNull();
  });

  it("keeps open what is open when the sides are linked and let go again", async () => {
    const app = await opened(sourceOf());
    await app.showUnit(3);
    const view = (at: number) => app.workspace.views.value[at] as GraphView;
    /** Opens the row of a label in the rows that are open already. */
    const open = async (tree: GraphView, ...labels: string[]) => {
      let parent = tree.tree.root;
      for (const label of labels) {
        for (let at = 0; at < parent.count; at += 1) {
          const row = await tree.row({ parent, at });
          if ((row?.t ?? row?.g)?.label !== label) continue;
          tree.open({ parent, at });
          parent = parent.open.get(at) as OpenRow;
          break;
        }
      }
    };
    const openIn = (tree: GraphView) => {
      const names: string[] = [];
      const visit = (around: OpenRow) => {
        for (const [at, inner] of [...around.open].sort(([a], [b]) => a - b)) {
          const row = around.row(at);
          names.push((row?.t ?? row?.g)?.label ?? "?");
          visit(inner);
        }
      };
      visit(tree.tree.root);
      return names;
    };
    await open(view(0), "decoder", "layers.0");
    await app.setLinked(false);
    expect(openIn(view(0))).toEqual(["decoder", "layers.0"]);
    expect(openIn(view(1))).toEqual(["decoder", "layers.0"]);
    await open(view(0), "decoder", "layers.1", "attn");
    await open(view(1), "decoder", "layers.4");
    await app.setLinked(true);
    expect(openIn(view(0))).toEqual(["decoder", "layers.0", "layers.1", "attn", "layers.4"]);
    // The same trees with other pairs in them, as after a match by hand.
    await app.workspace.showUnit();
    expect(openIn(view(0))).toEqual(["decoder", "layers.0", "layers.1", "attn", "layers.4"]);
    await app.showUnit(2);
    expect(openIn(view(0))).toEqual([]);
  });

  it("opens nothing in a micro step that was open in another one", async () => {
    const source = new EmbeddedSource(transformer("f", 6, 4, 2));
    const app = new App(source);
    await app.show({ ...PLACE, file: "f", step: 1, rank: 2, micro: 0 });
    const opened = vi.spyOn(GraphView.prototype, "openAgain");
    const before = app.workspace.views.value[0] as GraphView;
    before.open({ parent: before.tree.root, at: 1 });
    await app.showUnit(app.workspace.u.value, 1);
    expect(app.workspace.micro.value).toBe(1);
    expect(opened.mock.calls.map(([nodes]) => nodes.inside(before.tree.root).any)).toEqual([false]);
    opened.mockRestore();
  });

  it("stops asking for trees that are not wanted any more", async () => {
    const source = sourceOf();
    const app = await opened(source);
    await app.showUnit(3);
    const stops: (AbortSignal | undefined)[] = [];
    const { rows } = source;
    const slow = gate();
    source.rows = async (...given) => {
      stops.push(given[6]);
      await slow.opened;
      return rows(...given);
    };
    const first = app.workspace.showUnit();
    const second = app.workspace.showUnit();
    expect(stops.map((stop) => stop?.aborted)).toEqual([true, false]);
    slow.open();
    expect([await first, await second]).toEqual([false, true]);
    const left = app.workspace.showUnit();
    app.workspace.closeFile();
    expect(stops.at(-1)?.aborted).toBe(true);
    expect(await left).toBe(false);
  });

  it("colours a graph alone by its overflow", async () => {
    const app = new App(new EmbeddedSource(singleGraph("f")));
    await app.show({ ...PLACE, file: "f" });
    expect(app.workspace.coloring.value).toBe("overflow");
  });

  it("goes on from a node without a partner when the list is of the other side", async () => {
    const app = await opened(sourceOf());
    await app.showUnit(3);
    await app.navigation.go({ side: "t", name: "Tensor.mul_.0.forward" });
    app.suspects.setFilter({ by: "unmatched", value: "" }, "g");
    await app.suspects.step(true);
    expect(app.navigation.selected.value?.name).toBe("Functional.dropout.1.forward");
  });

  it("says where a first divergence is as soon as that is known", async () => {
    const source = sourceOf();
    const { divergence } = source;
    const slow = gate();
    source.divergence = async (...given) => {
      await slow.opened;
      return divergence(...given);
    };
    const app = await opened(source);
    await app.showUnit(3);
    const going = app.suspects.goToCulprit();
    slow.open();
    expect(await going).toBe(true);
    expect(app.navigation.selected.value?.name).toBe("Functional.softmax.1.forward");
  });

  it("does not say that there is no first divergence where it could not be asked for", async () => {
    const source = sourceOf();
    source.divergence = () => Promise.reject(new ApiError(500, "broken", "", ""));
    const app = await opened(source);
    await expect(app.suspects.goToCulprit()).rejects.toThrow(ApiError);
  });

  it("goes nowhere when the next suspicious node is found in trees that are gone", async () => {
    const source = sourceOf();
    const app = await opened(source);
    await app.showUnit(3);
    const { seek } = source;
    const slow = gate();
    source.seek = async (...given) => {
      await slow.opened;
      return seek(...given);
    };
    const step = app.suspects.step(true);
    await vi.waitFor(() => expect(app.workspace.views.value.length).toBe(1));
    await app.showUnit(1);
    slow.open();
    await step;
    expect(app.navigation.selected.value).toBeNull();
  });
});

describe("Workspace", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("asks for the sums of a file also while it asked for those of another one", async () => {
    const asked: string[] = [];
    const source = sourceOf();
    const { open } = source;
    source.open = async (file, u, signal) => {
      asked.push(file);
      const answer = await open(file, u, signal);
      if (answer.state !== "ready") return answer;
      const units = answer.units.map((unit, i) => ({
        ...unit,
        pending: i > 0 && asked.length < 6,
      }));
      return { ...answer, file, units };
    };
    const { workspace } = new App(source);
    await workspace.openFile("a");
    await workspace.openFile("b");
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked.filter((file) => file === "b").length).toBeGreaterThan(1);
    expect(workspace.file.value?.units.some((unit) => unit.pending)).toBe(false);
  });
});
