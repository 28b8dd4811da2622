// @vitest-environment happy-dom
import { expect, it } from "vitest";
import type { Brief } from "../api/types";
import { cellParts } from "./graph_cell";

const brief: Brief = {
  ...{ id: 1, name: "Functional.softmax.1.forward", label: "Functional.softmax.1", cls: "" },
  ...{ kind: "api", dir: "b", shape: "", n: 0, micro: 0, partner: 1, role: "culprit" },
  ...{ index: 1, worst: 1, inside: 0, status: "error", status_inside: "", status_count: 0 },
  ...{ overflow: "high", overflow_inside: "", overflow_count: 0 },
};
const words = (width: number, role: Brief["role"] = "culprit") =>
  cellParts({
    ...{ brief: { ...brief, role }, rows: 0, open: false, coloring: "index", bands: [] },
    ...{ width, nameFirst: false },
  }).signs.map((sign) => sign.word);

it("marks where it diverges however little room there is", () => {
  expect(words(30)).toEqual(["diverges here", "backward", "overflow"]);
  expect(words(17)).toEqual(["diverges", "backward"]);
  expect(words(14)).toEqual(["diverges"]);
  expect(words(9)).toEqual(["!"]);
  expect(words(14, "victim")).toEqual([]);
});
