import { expect, it } from "vitest";
import { transformer } from "../../test_server/graphs";
import type { Unit } from "../api/types";
import { firstDivergent } from "./first_unit";

/** Two steps of three ranks: culprits and undecided nodes of each. */
function run(...counts: [number, number][]): Unit[] {
  const [unit] = transformer("f", 4, 1).open.units;
  return counts.map(([culprits, undecided], u) => ({
    ...(unit as Unit),
    ...{ step: Math.floor(u / 3), rank: u % 3, culprits, undecided },
  }));
}

it("is in the earliest step that differs, and there with who is to blame", () => {
  expect(firstDivergent(run([0, 0], [0, 0], [0, 0]))).toEqual([]);
  expect(firstDivergent(run([0, 0], [0, 2], [1, 0], [3, 0]))).toEqual([2]);
  expect(firstDivergent(run([0, 0], [0, 0], [0, 2], [3, 0]))).toEqual([2]);
  expect(firstDivergent(run([0, 1], [1, 0], [2, 0], [3, 0]))).toEqual([1, 2]);
  expect(firstDivergent(run([0, 1], [0, 0], [0, 4], [3, 0]))).toEqual([0, 2]);
  expect(firstDivergent(run([0, 0], [0, 0], [0, 0], [0, 0], [1, 0]))).toEqual([4]);
});
