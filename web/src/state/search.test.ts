import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Search } from "./search";
import type { Workspace } from "./workspace";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A search in one open comparison, answered by `answer`. */
function searchWith(answer: (query: string) => Promise<unknown>, views = signal([{}])): Search {
  const workspace = {
    views,
    file: signal({}),
    comparison: signal(true),
    ref: { file: "a.vis", u: 0 },
    source: { search: (_unit: unknown, query: string) => answer(query) },
  };
  return new Search(workspace as unknown as Workspace);
}

it("asks for a key at once, and while an answer is awaited for the last of those that follow", async () => {
  const asked: string[] = [];
  const search = searchWith(async (query) => {
    asked.push(query);
    await new Promise((done) => setTimeout(done, 40));
    return { total: 0, offset: 0, items: [] };
  });
  for (const query of ["s", "so", "sof", "soft"]) {
    search.type(query);
    await vi.advanceTimersByTimeAsync(7);
  }
  expect(asked).toEqual(["s"]);
  await vi.advanceTimersByTimeAsync(100);
  expect(asked).toEqual(["s", "soft"]);
  search.type("softmax");
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toEqual(["s", "soft", "softmax"]);
  search.type(" ");
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.length).toBe(3);
  expect(search.hits.value).toBeNull();
});

it("gives the first hit of what stands in the field, not of what stood there before", async () => {
  const views = signal([{}]);
  const search = searchWith(async (query) => {
    await new Promise((done) => setTimeout(done, 20));
    return { total: 1, offset: 0, items: [{ name: query }] };
  }, views);
  search.type("so");
  await vi.advanceTimersByTimeAsync(15);
  search.type("soft");
  const first = search.first();
  await vi.advanceTimersByTimeAsync(6);
  // The answer for "so" would have come by now.
  await vi.advanceTimersByTimeAsync(100);
  expect((await first)?.name).toBe("soft");
  expect(search.shown.value?.item(0)?.name).toBe("soft");
  search.type("softmax");
  expect(search.hits.value?.item(0)).toBeUndefined();
  expect(search.shown.value?.item(0)?.name).toBe("soft");
  await vi.advanceTimersByTimeAsync(25);
  expect(search.shown.value?.item(0)?.name).toBe("softmax");
  search.type("softmaxx");
  views.value = [{}];
  expect(search.shown.value?.item(0)).toBeUndefined();
  const gone = search.first();
  search.type("");
  await vi.advanceTimersByTimeAsync(25);
  expect(await gone).toBeUndefined();
});
