import { describe, expect, it } from "vitest";
import { levelsLeftOut, levelWidths, MAX_LEVELS, roomOf, textWidth } from "./nesting";

describe("levels", () => {
  it("leave out the outer ones where the tree is very deep, never one that is in sight", () => {
    expect(levelsLeftOut(MAX_LEVELS)).toBe(0);
    for (let deepest = 0; deepest < 400; deepest += 1) {
      const shown = deepest - levelsLeftOut(deepest);
      expect(shown).toBeLessThanOrEqual(MAX_LEVELS);
      expect(shown).toBeGreaterThanOrEqual(Math.min(deepest, MAX_LEVELS - 6));
    }
  });

  it("are few where there is room for one side only", () => {
    for (let deepest = 0; deepest < 400; deepest += 1) {
      const shown = deepest - levelsLeftOut(deepest, true);
      expect(shown).toBeLessThanOrEqual(3);
      expect(shown).toBeGreaterThanOrEqual(Math.min(deepest, 2));
    }
  });

  it("are whole pixels wide at every text size", () => {
    for (const rem of [10, 13, 19.5, 52]) {
      const { left, right } = levelWidths(rem);
      expect([left, right].every(Number.isInteger)).toBe(true);
      expect(right).toBeGreaterThanOrEqual(2);
    }
  });
});

describe("roomOf", () => {
  it("counts in letters, not in pixels", () => {
    const widths = [200, 209, 270, 400, 500, 600];
    expect(widths.map((width) => roomOf(width, 13))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(roomOf(600, 26)).toBe(2);
  });
});

describe("textWidth", () => {
  it("gives letters of other scripts the room of two", () => {
    expect(textWidth("layer", "mono")).toBeCloseTo(3.15);
    expect(textWidth("层层", "bold")).toBeCloseTo(2.6);
    expect(textWidth("wide", "bold")).toBeGreaterThan(textWidth("wide", "mono"));
  });
});
