// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import type { Source } from "../api/source";
import { GraphView, isRow } from "./graph_view";

const unit = { file: "f", u: 3 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function viewOf(change: (source: Source) => void = () => undefined) {
  const source: Source = new EmbeddedSource(transformer("f", 6, 8, 2));
  change(source);
  const rows = vi.spyOn(source, "rows");
  const inside = vi.spyOn(source, "inside");
  const view = new GraphView(source, unit, "both", null, true);
  await view.start();
  const show = () => view.window(0, view.tree.height).lines.filter(isRow);
  return { view, rows, inside, show };
}

describe("rows ahead", () => {
  it("are there when a closed row that was in sight is opened", async () => {
    const { view, rows, show } = await viewOf();
    show();
    await vi.advanceTimersByTimeAsync(100);
    rows.mockClear();
    view.open({ parent: view.tree.root, at: 1 });
    const lines = show();
    expect(lines).toHaveLength(view.tree.root.count + 6);
    expect(lines.every((line) => line.row !== undefined)).toBe(true);
    expect(rows).not.toHaveBeenCalled();
  });

  it("are asked for once, and not while one scrolls", async () => {
    const { inside, show } = await viewOf();
    for (let i = 0; i < 5; i += 1) {
      show();
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(inside).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(100);
    show();
    await vi.advanceTimersByTimeAsync(100);
    expect(inside).toHaveBeenCalledTimes(1);
  });

  it("are not needed: without them a row asks when it is opened", async () => {
    const { view, rows, show } = await viewOf((source) => {
      source.inside = () => Promise.reject(new Error("no"));
    });
    show();
    await vi.advanceTimersByTimeAsync(100);
    rows.mockClear();
    view.open({ parent: view.tree.root, at: 1 });
    expect(show().some((line) => line.row === undefined)).toBe(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(rows).toHaveBeenCalledTimes(1);
    expect(show().every((line) => line.row !== undefined)).toBe(true);
    expect(view.error.value).toBeNull();
  });

  it("stay when a row is closed", async () => {
    const { view, rows, show } = await viewOf((source) => {
      source.inside = () => Promise.reject(new Error("no"));
    });
    const spot = { parent: view.tree.root, at: 1 };
    view.open(spot);
    show();
    await vi.advanceTimersByTimeAsync(100);
    view.close(spot);
    rows.mockClear();
    view.open(spot);
    expect(show().every((line) => line.row !== undefined)).toBe(true);
    expect(rows).not.toHaveBeenCalled();
  });
});
