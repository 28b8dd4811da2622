// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import { ApiError, type Source } from "../api/source";
import type { ManualPair } from "../api/types";
import { parsePlace } from "../model/place";
import { App } from "./app";

/** A server that pairs when the test says so. */
function matchingServer() {
  const data = transformer("f", 4, 3);
  const source: Source = new EmbeddedSource({ ...data, open: { ...data.open, can_match: true } });
  const pairs: ManualPair[] = [1, 2].map((id) => ({ t: id, g: id, target: "t", golden: "g" }));
  const waiting: (() => void)[] = [];
  const wait = () => new Promise<void>((done) => waiting.push(done));
  source.matches = async (_unit, offset) => ({
    ...{
      total: pairs.length,
      pairs: pairs.slice(offset),
      undo: { ...(pairs[1] as ManualPair), count: 3 },
    },
    mapping: true,
  });
  const match = vi.fn<Source["match"]>(wait);
  const unmatch = vi.fn<Source["unmatch"]>(wait);
  source.match = match;
  source.unmatch = unmatch;
  const answer = () => {
    for (const done of waiting.splice(0)) done();
  };
  return { source, match, unmatch, answer };
}

/** Two nodes without a partner are chosen in unit 0. */
async function chosen(source: Source): Promise<App> {
  const app = new App(source);
  await app.show(parsePlace("file=f"));
  app.navigation.selected.value = { side: "g", id: 7, name: "golden", t: -1, g: 7 };
  app.matching.pick();
  app.navigation.selected.value = { side: "t", id: 5, name: "target", t: 5, g: -1 };
  return app;
}

it("leaves another unit alone that is shown when the pairing is done", async () => {
  const { source, match, answer } = matchingServer();
  const app = await chosen(source);
  const matching = app.matching.confirm();
  expect(match).toHaveBeenCalledWith({ file: "f", u: 0 }, 5, 7, true);
  await app.showUnit(1);
  const { value: views } = app.workspace.views;
  answer();
  await matching;
  expect(app.workspace.views.value).toBe(views);
  expect(app.navigation.selected.value?.id).not.toBe(5);
});

it("does not keep a unit from being shown that is on the way when the pairing is done", async () => {
  const { source, answer } = matchingServer();
  const app = await chosen(source);
  const { rows } = source;
  let arrive: (() => void) | undefined;
  source.rows = async (...given) => {
    await new Promise<void>((done) => {
      arrive = done;
    });
    return rows(...given);
  };
  const matching = app.matching.confirm();
  const going = app.showUnit(1);
  answer();
  await vi.waitFor(() => expect(arrive).toBeDefined());
  source.rows = rows;
  arrive?.();
  expect(await going).toBe(true);
  await matching;
  expect(app.workspace.views.value[0]?.unit.u).toBe(1);
});

it("shows what became of the unit, and goes to the pair, where that is still shown", async () => {
  const { source, answer } = matchingServer();
  const app = await chosen(source);
  const { value: views } = app.workspace.views;
  const matching = app.matching.confirm();
  answer();
  await matching;
  expect(app.workspace.views.value).not.toBe(views);
  expect(app.navigation.selected.value?.id).toBe(5);
});

it("pairs and lets go once, however often that is clicked", async () => {
  const { source, match, unmatch, answer } = matchingServer();
  const app = await chosen(source);
  const pairing = [app.matching.confirm(), app.matching.confirm()];
  expect(app.matching.busy.value).toBe(true);
  answer();
  await Promise.all(pairing);
  expect(match).toHaveBeenCalledTimes(1);
  expect(app.matching.busy.value).toBe(false);
  const undoing = [app.matching.undo(), app.matching.undo()];
  answer();
  await Promise.all(undoing);
  expect(unmatch).toHaveBeenCalledTimes(1);
  expect(unmatch).toHaveBeenCalledWith({ file: "f", u: 0 }, { last: { t: 2, g: 2, count: 3 } });
});

it("shows the pairs that there are where somebody else has changed them meanwhile", async () => {
  const { source } = matchingServer();
  const app = await chosen(source);
  source.unmatch = () => Promise.reject(new ApiError(400, "not the last", "", ""));
  const now = { t: 8, g: 9, target: "t", golden: "g", count: 1 };
  source.matches = async () => ({ total: 1, pairs: [now], undo: now, mapping: true });
  await expect(app.matching.undo()).rejects.toThrow("not the last");
  expect(app.matching.last.value).toEqual(now);
});
