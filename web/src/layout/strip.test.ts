import { describe, expect, it } from "vitest";
import type { Unit } from "../api/types";
import { stripGradient, stripOf } from "./strip";

describe("stripGradient", () => {
  it("joins equal parts and leaves out what is fine", () => {
    expect(stripGradient("004u")).toBe(
      "linear-gradient(transparent 0% 50%, var(--mark-band-4) 50% 75%, var(--edge-unmatched) 75% 100%)",
    );
    expect(stripGradient("2")).toBe("linear-gradient(var(--mark-band-2) 0% 100%)");
    expect(stripGradient("...")).toBe("linear-gradient(transparent 0% 100%)");
    expect(stripGradient("")).toBe("none");
  });

  it("has the colours of status and overflow too", () => {
    expect(stripGradient("wreu")).toBe(
      "linear-gradient(var(--mark-warning) 0% 25%, var(--mark-unreadable) 25% 50%, var(--mark-error) 50% 75%, var(--edge-unmatched) 75% 100%)",
    );
    expect(stripGradient("mhc")).toBe(
      "linear-gradient(var(--mark-medium) 0% 33.33%, var(--mark-high) 33.33% 66.67%, var(--mark-critical) 66.67% 100%)",
    );
  });

  it("is of what the colours mean", () => {
    const unit = { strip: "04", strip_status: "w." } as Unit;
    expect(stripOf("index", unit)).toBe("04");
    expect(stripOf("status", unit)).toBe("w.");
    expect(stripOf("overflow", unit)).toBe("");
  });
});
