// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { dataOf, GraphMaker, unitOf } from "../../test_server/graph_maker";
import { EmbeddedSource } from "../api/embedded_source";
import type { Overflow } from "../api/types";
import { parsePlace } from "../model/place";
import { App } from "../state/app";
import { handleKey } from "./keyboard";

/** A graph alone whose calls overflow like this. */
async function shown(...levels: Overflow[]): Promise<App> {
  const maker = new GraphMaker(true);
  levels.forEach((overflow, at) => {
    const label = `Torch.add.${at}`;
    maker.add({ t: 0, g: -1 }, { name: `${label}.forward`, label, overflow });
  });
  const unit = maker.finish();
  const app = new App(new EmbeddedSource(dataOf("f", [unit], [unitOf(0, 0, 1, unit)])));
  await app.show({ ...parsePlace(""), file: "f" });
  return app;
}

async function press(app: App, key: string): Promise<void> {
  const { value: selected } = app.navigation.selected;
  document.body.onkeydown = (event) => handleKey(app, event);
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key }));
  await vi.waitFor(() => {
    if (app.navigation.selected.value === selected) expect(app.notice.value).not.toBeNull();
  });
}

it("walks over what overflows most where there is nothing to compare with", async () => {
  const app = await shown("medium", "critical", "", "critical");
  const walk = [];
  for (let i = 0; i < 3; i += 1) {
    await press(app, "n");
    walk.push(app.navigation.selected.value?.id);
  }
  expect(walk).toEqual([2, 4, 2]);
  expect(app.suspects.list.value).not.toBeNull();
  expect(app.suspects.filtered.value).toBe(false);
});

it("says why there is nothing to go to in a graph alone", async () => {
  const app = await shown("", "");
  await press(app, "f");
  expect(app.notice.value).toContain("not compared");
  app.notice.value = null;
  await press(app, "n");
  expect(app.notice.value).toBe("Nothing suspicious here.");
});
