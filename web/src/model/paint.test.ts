import { describe, expect, it } from "vitest";
import type { Band, Verdict } from "../api/types";
import { bandOf, hiddenOverflow, hiddenPaint, NO_PAINT, paintOf, worstOverflow } from "./paint";

const bands: Band[] = [0, 0.2, 0.4, 0.6, 0.8].map((lo) => ({
  color: "#000000",
  lo,
  hi: lo + 0.2,
  label: "",
}));
const verdict = (fields: Partial<Verdict>): Verdict => ({
  kind: "module",
  index: null,
  worst: null,
  status: "",
  overflow: "",
  role: "",
  ...fields,
});

describe("paint", () => {
  it("puts the bounds into the right bands, the worst one includes its end", () => {
    expect([0, 0.19, 0.2, 0.8, 1].map((index) => bandOf(bands, index))).toEqual([0, 0, 1, 4, 4]);
  });

  it("is grey for unmatched nodes, also when coloured by status", () => {
    const node = verdict({ status: "unmatched", overflow: "high" });
    expect(paintOf("index", bands, node)).toBe("unmatched");
    expect(paintOf("status", bands, node)).toBe("unmatched");
    expect(paintOf("overflow", bands, node)).toBe("high");
  });

  it("has no colour without an index", () => {
    expect(paintOf("index", bands, verdict({}))).toBe(NO_PAINT);
    expect(paintOf("index", [], verdict({ index: 1 }))).toBe(NO_PAINT);
  });

  it("tells of worse nodes inside", () => {
    expect(hiddenPaint(bands, verdict({ index: 0.05, worst: 1 }))).toBe("band-4");
    expect(hiddenPaint(bands, verdict({ index: null, worst: 0.5 }))).toBe("band-2");
    expect(hiddenPaint(bands, verdict({ index: 0.9, worst: 1 }))).toBeNull();
    expect(hiddenPaint(bands, verdict({ index: 0.05, worst: 0.1 }))).toBeNull();
  });

  it("tells the worst overflow of a unit", () => {
    const of = (medium: number, high: number, critical: number) =>
      worstOverflow({ overflow: { medium, high, critical } });
    expect([of(1, 2, 0), of(1, 0, 1), of(0, 0, 0)]).toEqual(["high", "critical", ""]);
  });

  it("tells of worse overflow inside", () => {
    expect(hiddenOverflow({ overflow: "", overflow_inside: "medium" })).toBe("medium");
    expect(hiddenOverflow({ overflow: "high", overflow_inside: "critical" })).toBe("critical");
    expect(hiddenOverflow({ overflow: "high", overflow_inside: "high" })).toBeNull();
    expect(hiddenOverflow({ overflow: "", overflow_inside: "" })).toBeNull();
  });
});
