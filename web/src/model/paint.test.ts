import { describe, expect, it } from "vitest";
import type { Band, Brief, OverviewBin, Unit, Verdict } from "../api/types";
import {
  bandOf,
  insideOf,
  markOf,
  markPaints,
  NO_PAINT,
  paintOf,
  unitPaint,
  worstOverflow,
} from "./paint";

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

const brief = (fields: Partial<Brief>): Brief => ({
  ...verdict({}),
  ...{ id: 1, name: "n", label: "n", cls: "", dir: "f", shape: "", n: 1, micro: 0, partner: null },
  ...{ inside: 0, overflow_inside: "", overflow_count: 0, status_inside: "", status_count: 0 },
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

  it("shows of a unit that cannot be read that it is not fine, whatever colours mean", () => {
    const unit = { error: "the file is damaged", worst: null } as Unit;
    for (const coloring of ["index", "status", "overflow"] as const) {
      expect(unitPaint(coloring, bands, unit)).toBe("unreadable");
    }
  });

  it("has no colour without an index", () => {
    expect(paintOf("index", bands, verdict({}))).toBe(NO_PAINT);
    expect(paintOf("index", [], verdict({ index: 1 }))).toBe(NO_PAINT);
  });

  const index = (fields: Partial<Brief>) => insideOf("index", bands, brief(fields));
  const status = (fields: Partial<Brief>) => insideOf("status", bands, brief(fields));
  const overflow = (fields: Partial<Brief>) => insideOf("overflow", bands, brief(fields));

  it("tells of worse nodes inside", () => {
    const red = { worst: 1, inside: 2 };
    expect(index({ index: 0.05, ...red })).toEqual({ paint: "band-4", count: 2, hidden: true });
    expect(index({ worst: 0.5 })).toEqual({ paint: "band-2", count: 0, hidden: true });
    expect(index({ index: 0.9, ...red })).toEqual({ paint: "band-4", count: 2, hidden: false });
    expect(index({ index: 0.9, worst: 0.95 })).toBeNull();
    expect(index({ index: 0.05, worst: 0.1 })).toBeNull();
  });

  it("tells of a worse status inside, whatever the indexes are", () => {
    const errors = { status_inside: "error", status_count: 3 } as const;
    const paint = "error";
    expect(status({ status: "pass", ...errors })).toEqual({ paint, count: 3, hidden: true });
    expect(status({ status: "unmatched", ...errors })).toEqual({ paint, count: 3, hidden: true });
    expect(status({ status: "unreadable", ...errors })).toEqual({ paint, count: 3, hidden: true });
    expect(status({ status: "error", ...errors })).toEqual({ paint, count: 3, hidden: false });
    const warning = { status_inside: "warning", status_count: 1 } as const;
    expect(status({ status: "pass", ...warning })?.paint).toBe("warning");
    expect(status({ status: "warning", ...warning })).toBeNull();
    expect(status({ status: "pass", index: 0, worst: 1, inside: 1 })).toBeNull();
  });

  it("tells the worst overflow of a unit", () => {
    const of = (medium: number, high: number, critical: number) =>
      worstOverflow({ overflow: { medium, high, critical } });
    expect([of(1, 2, 0), of(1, 0, 1), of(0, 0, 0)]).toEqual(["high", "critical", ""]);
  });

  it("tells of worse overflow inside", () => {
    const inside = (level: Brief["overflow"]) => ({ overflow_inside: level, overflow_count: 4 });
    expect(overflow(inside("medium"))).toEqual({ paint: "medium", count: 4, hidden: true });
    expect(overflow({ overflow: "high", ...inside("critical") })?.paint).toBe("critical");
    expect(overflow({ overflow: "high", ...inside("high") })).toBeNull();
    expect(overflow({ overflow: "critical", ...inside("critical") })?.hidden).toBe(false);
    expect(overflow({ worst: 1, inside: 1 })).toBeNull();
  });

  it("marks places of the run by what the colours mean, the worst last", () => {
    expect(markPaints("index", bands)).toEqual(["band-1", "band-2", "band-3", "band-4"]);
    expect(markPaints("status", bands)).toEqual(["warning", "unreadable", "error"]);
    expect(markPaints("overflow", bands)).toEqual(["medium", "high", "critical"]);
  });

  const bin = (fields: Partial<OverviewBin>): OverviewBin => ({
    ...{ worst: null, unmatched: 0, unmatched_id: 1, side: "t", id: 1 },
    ...{ status: "", status_id: 1, overflow: "", overflow_id: 1 },
    ...fields,
  });

  it("leads from a mark to the node that it is made for", () => {
    const all = bin({
      ...{ worst: 0.9, id: 5, status: "error", status_id: 6, overflow: "high", overflow_id: 7 },
      ...{ unmatched: 3, unmatched_id: 8 },
    });
    expect(markOf("index", bands, all)).toEqual({ paint: "band-4", id: 5 });
    expect(markOf("status", bands, all)).toEqual({ paint: "error", id: 6 });
    expect(markOf("overflow", bands, all)).toEqual({ paint: "high", id: 7 });
  });

  it("leads from a grey mark to a node without a partner, but for overflow", () => {
    const grey = bin({ worst: 0.1, id: 5, unmatched: 1, unmatched_id: 8 });
    const paint = "unmatched";
    expect(markOf("index", bands, grey)).toEqual({ paint, id: 8 });
    expect(markOf("status", bands, grey)).toEqual({ paint, id: 8 });
    expect(markOf("overflow", bands, grey)).toEqual({ paint: NO_PAINT, id: 1 });
    expect(markOf("index", bands, bin({ worst: 0.1 })).paint).toBe("band-0");
    expect(markOf("status", bands, bin({})).paint).toBe(NO_PAINT);
  });

  it("colours a unit by what the colours mean", () => {
    const counts = { pass: 9, warning: 2, error: 0, unreadable: 0 };
    const unit = {
      worst: 0.9,
      counts: {
        ...counts,
        bands: [],
        unmatched: [0, 0],
        overflow: { medium: 1, high: 0, critical: 0 },
      },
    } as unknown as Unit;
    const paint = (coloring: "index" | "status" | "overflow") => unitPaint(coloring, bands, unit);
    expect(["index", "status", "overflow"].map((one) => paint(one as "index"))).toEqual([
      ...["band-4", "warning", "medium"],
    ]);
  });
});
