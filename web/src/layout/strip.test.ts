import { describe, expect, it } from "vitest";
import { stripGradient } from "./strip";

describe("stripGradient", () => {
  it("joins equal parts and leaves out what is fine", () => {
    expect(stripGradient("004u")).toBe(
      "linear-gradient(transparent 0% 50%, var(--mark-band-4) 50% 75%, var(--edge-unmatched) 75% 100%)",
    );
    expect(stripGradient("2")).toBe("linear-gradient(var(--mark-band-2) 0% 100%)");
    expect(stripGradient("...")).toBe("linear-gradient(transparent 0% 100%)");
    expect(stripGradient("")).toBe("none");
  });
});
