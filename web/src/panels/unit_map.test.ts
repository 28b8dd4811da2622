// @vitest-environment happy-dom
import { h, render } from "preact";
import { expect, it } from "vitest";
import { transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import { parsePlace } from "../model/place";
import { App } from "../state/app";
import { cellBeside, UnitMap } from "./unit_map";

/** Two steps; the row of the first one breaks after three cells. */
const boxes = () => [
  ...[0, 20, 40].map((left) => ({ left, top: 10 })),
  ...[0, 20].map((left) => ({ left, top: 30 })),
  ...[0, 20, 40].map((left) => ({ left, top: 60 })),
];
const from = (at: number, ...keys: string[]) =>
  keys.reduce((here, key) => cellBeside(boxes, here, key) ?? -1, at);

it("goes along the cells and to the row above or below", () => {
  expect(from(0, "ArrowRight", "ArrowRight", "ArrowRight")).toBe(3);
  expect(from(0, "ArrowLeft")).toBe(0);
  expect(from(7, "ArrowRight")).toBe(7);
  expect(from(1, "ArrowDown")).toBe(4);
  expect(from(2, "ArrowDown", "ArrowDown")).toBe(6);
  expect(from(7, "ArrowUp")).toBe(4);
  expect(from(1, "ArrowUp")).toBe(1);
  expect(from(6, "ArrowDown")).toBe(6);
  expect([from(3, "Home"), from(3, "End")]).toEqual([0, 7]);
  expect(from(3, "Enter")).toBe(-1);
});

it("marks ranks with a culprit, whatever their colour, and tells what the mark means", async () => {
  const app = new App(new EmbeddedSource(transformer("f", 4, 4)));
  await app.show(parsePlace("file=f"));
  render(h(UnitMap, { app }), document.body);
  const marked = [...document.querySelectorAll("button.with-culprit")];
  expect(marked.map((cell) => cell.textContent)).toEqual(["2", "3"]);
  expect(document.querySelector(".unit-signs")?.textContent).toBe("first divergence inside");
});
