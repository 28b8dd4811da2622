import { expect, it } from "vitest";
import { barHeights, closeShare, parseUlps } from "./ulps";

it("reads the counts of the server, and nothing else", () => {
  expect(parseUlps("0:20 1:3 2-3:1")).toEqual([20, 3, 1, 0, 0, 0, 0, 0]);
  expect(parseUlps("1024+:7")).toEqual([0, 0, 0, 0, 0, 0, 0, 7]);
  for (const text of ["", "0", "5:1", "0:x", "<b>:1"]) expect(parseUlps(text)).toBeNull();
});

it("says that all are close only if all are", () => {
  expect(closeShare([5, 5, 0, 0, 0, 0, 0, 0])).toBe(100);
  expect(closeShare([999_999, 0, 0, 0, 0, 0, 0, 1])).toBe(99.9);
  expect(closeShare([1, 0, 1, 0, 0, 0, 0, 0])).toBe(50);
});

it("draws one element among millions", () => {
  const [most, none, one] = barHeights([4_000_000, 0, 1, 0, 0, 0, 0, 0]);
  expect(most).toBe(1);
  expect(none).toBe(0);
  expect(one).toBeGreaterThan(0.1);
});
