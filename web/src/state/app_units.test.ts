// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from "vitest";
import { transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import { ApiError, type Source } from "../api/source";
import type { Unit } from "../api/types";
import { parsePlace } from "../model/place";
import { App } from "./app";

const damaged = (u: number) => new ApiError(422, `unit ${u} is damaged`, "record it again", "");

/** How a server tells of a unit. */
type State = "here" | "away" | "pending" | "damaged";

/**
 * A source like a server: units that are not in memory are loaded once they are asked for, in so many
 * answers of `open`; other requests about them are not answered.
 */
function serverOf(states: State[], loads = 2) {
  const embedded = new EmbeddedSource(transformer("f", 4, states.length));
  const left = states.map(() => loads);
  const asked: string[] = [];
  const source: Source = Object.assign(embedded, {});
  const { open, rows } = source;
  const told = (unit: Unit, u: number): Unit => {
    if (states[u] === "pending") return { ...unit, pending: true };
    return states[u] === "damaged" ? { ...unit, error: damaged(u).fact } : unit;
  };
  source.open = async (file, u, signal) => {
    asked.push(`open ${u}`);
    if (u >= states.length) throw new ApiError(400, "the file has no such step and rank", "", "");
    if (states[u] === "damaged") throw damaged(u);
    if (states[u] !== "here") {
      left[u] = (left[u] ?? 0) - 1;
      if ((left[u] ?? 0) >= 0) return { state: "loading", phase: "reading", done: 1, total: 2 };
      states[u] = "here";
    }
    const answer = await open(file, u, signal);
    if (answer.state !== "ready") return answer;
    return { ...answer, units: answer.units.map(told) };
  };
  source.rows = async (unit, ...rest) => {
    asked.push(`rows ${unit.u}`);
    if (states[unit.u] !== "here") throw new ApiError(422, "not in memory", "", "");
    return rows(unit, ...rest);
  };
  return { source, states, asked };
}

async function opened(source: Source, place = "file=f"): Promise<App> {
  const app = new App(source);
  await app.show(parsePlace(place));
  return app;
}

afterEach(() => void vi.useRealTimers());

describe("A unit that is summed up but not in memory", () => {
  it("is waited for as any other, with its progress, and nothing else is shown meanwhile", async () => {
    const { source, asked } = serverOf(["here", "away"], 10);
    const app = await opened(source);
    await app.navigation.go({ side: "t", id: 1 });
    const going = app.showUnit(1);
    await vi.waitFor(() => expect(app.workspace.loading.value).not.toBeNull());
    expect(app.workspace.views.value).toEqual([]);
    expect(app.workspace.u.value).toBe(1);
    expect(asked).not.toContain("rows 1");
    expect(await going).toBe(true);
    expect(app.workspace.views.value[0]?.unit.u).toBe(1);
    expect(app.workspace.loading.value).toBeNull();
    expect(app.failure.value).toBeNull();
    // The node that was looked at is looked at there, too.
    expect(app.navigation.selected.value?.id).toBe(1);
  });

  it("takes the name of what is shown not before its trees are there", async () => {
    const { source } = serverOf(["here", "here"]);
    const app = await opened(source);
    const { rows } = source;
    let answer: (() => void) | undefined;
    source.rows = async (...given) => {
      await new Promise<void>((done) => {
        answer = done;
      });
      return rows(...given);
    };
    const shown = () => [app.workspace.u.value, app.workspace.views.value[0]?.unit.u];
    const going = app.showUnit(1);
    await vi.waitFor(() => expect(answer).toBeDefined());
    expect(shown()).toEqual([0, 0]);
    answer?.();
    await going;
    expect(shown()).toEqual([1, 1]);
  });
});

describe("A unit that cannot be shown", () => {
  it("is what is tried again, not the first one", async () => {
    const { source, states } = serverOf(["here", "here", "damaged"]);
    const app = await opened(source);
    await app.showUnit(2);
    expect(app.failure.value?.fact).toBe("unit 2 is damaged");
    await app.retry();
    expect(app.failure.value?.fact).toBe("unit 2 is damaged");
    expect(app.workspace.u.value).toBe(2);
    states[2] = "here";
    await app.retry();
    expect(app.failure.value).toBeNull();
    expect(app.workspace.views.value[0]?.unit.u).toBe(2);
  });
});

describe("The map of units", () => {
  it("goes on to be filled while a damaged unit is looked at", async () => {
    vi.useFakeTimers();
    const { source, states } = serverOf(["here", "damaged", "pending", "here"]);
    const app = await opened(source);
    expect(await app.showUnit(1)).toBe(false);
    expect(app.workspace.u.value).toBe(1);
    await vi.advanceTimersByTimeAsync(2_000);
    states[2] = "here";
    await vi.advanceTimersByTimeAsync(10_000);
    expect(app.workspace.file.value?.units.map((unit) => unit.pending === true)).toEqual([
      ...[false, false, false, false],
    ]);
    expect(app.workspace.u.value).toBe(1);
    expect(app.failure.value?.fact).toBe("unit 1 is damaged");
  });

  it("is there where the first units are damaged, and others can be shown", async () => {
    const { source } = serverOf(["damaged", "damaged", "here", "away"]);
    const app = await opened(source, "file=f&step=0&rank=3");
    expect(app.failure.value).toBeNull();
    expect(app.workspace.views.value[0]?.unit.u).toBe(3);
    await app.show(parsePlace(""));
    await app.show(parsePlace("file=f"));
    // Nobody is led to another rank than the one that was asked for.
    expect(app.failure.value?.fact).toBe("unit 0 is damaged");
    expect(app.workspace.file.value?.units.map(({ error }) => error !== undefined)).toEqual([
      ...[true, true, false, false],
    ]);
    expect(await app.showUnit(2)).toBe(true);
  });

  it("is asked for once more only where the file as a whole cannot be read", async () => {
    const { source, asked } = serverOf(["damaged", "damaged"]);
    const app = await opened(source);
    expect(app.failure.value?.fact).toBe("unit 0 is damaged");
    expect(asked).toEqual(["open 0", "open 1", "open 2", "open 3"]);
    asked.length = 0;
    source.open = async (_file, u) => {
      asked.push(`open ${u}`);
      throw new ApiError(422, "not a graph file", "", "f");
    };
    await app.retry();
    expect(app.failure.value?.fact).toBe("not a graph file");
    expect(asked).toEqual(["open 0", "open 1"]);
  });
});
