// @vitest-environment happy-dom
import { h, render } from "preact";
import { expect, it, vi } from "vitest";
import { transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import type { ManualPair } from "../api/types";
import { parsePlace } from "../model/place";
import { App } from "../state/app";
import { MatchBar } from "./match_bar";

it("lets nobody undo a second pair while the first one is being undone", async () => {
  const data = transformer("f", 4, 1);
  const source = new EmbeddedSource({ ...data, open: { ...data.open, can_match: true } });
  const pairs = [1, 2].map((id) => ({ t: id, g: id, target: "t", golden: "g" }));
  source.matches = async (_unit, offset) => ({
    total: 2,
    pairs: pairs.slice(offset),
    undo: { ...(pairs[1] as ManualPair), count: 2 },
    mapping: false,
  });
  let answer = () => {};
  const unmatch = vi.fn(
    () =>
      new Promise<void>((done) => {
        answer = done;
      }),
  );
  source.matchesYaml = () => "matches.yaml";
  source.unmatch = unmatch;
  const app = new App(source);
  await app.show(parsePlace("file=f"));
  render(h(MatchBar, { app }), document.body);
  const undo = () =>
    [...document.querySelectorAll("button")].find(
      ({ textContent }) => textContent === "Undo the last",
    ) as HTMLButtonElement;
  expect(undo().title).toBe("\u2068t\u2069 ↔ \u2068g\u2069 and 1 more");
  undo().click();
  await vi.waitFor(() => expect(unmatch).toHaveBeenCalledTimes(1));
  await new Promise((drawn) => setTimeout(drawn, 50));
  undo().click();
  expect(unmatch).toHaveBeenCalledTimes(1);
  expect(undo().disabled).toBe(true);
  // Pairs of calls alone: a mapping could say none of them.
  expect(document.body.textContent).toContain("Nothing to export");
  answer();
  await vi.waitFor(() => expect(undo()?.disabled).toBe(false));
});
