import { describe, expect, it } from "vitest";
import { ScrollRange } from "./scroll_range";

describe("ScrollRange", () => {
  it("scrolls short content one to one", () => {
    const range = new ScrollRange(5_000, 600, 10_000);
    expect(range.height).toBe(5_000);
    range.scrolled(1_234);
    expect(range.top).toBe(1_234);
    expect(range.shift).toBe(0);
    expect(range.goTo(9_999)).toBe(4_400);
  });

  describe("with more content than the element may be tall", () => {
    const make = () => new ScrollRange(1_000_000, 500, 10_000);

    it("moves by small steps one to one", () => {
      const range = make();
      range.scrolled(100);
      range.scrolled(220);
      expect(range.top).toBe(220);
      expect(range.shift).toBe(0);
    });

    it("follows the scroll bar in proportion", () => {
      const range = make();
      range.scrolled(4_750);
      expect(range.top).toBeCloseTo(999_500 / 2, 0);
    });

    it("reaches both ends", () => {
      const range = make();
      range.scrolled(9_500);
      expect(range.top).toBe(999_500);
      range.scrolled(0);
      expect(range.top).toBe(0);
    });

    it("stays in place when it settles, and can go on in both directions", () => {
      const range = make();
      for (let at = 100; at <= 9_400; at += 100) range.scrolled(at);
      expect(range.top).toBe(9_400);
      const physical = range.settled();
      expect(range.top).toBe(9_400);
      expect(physical).toBeLessThan(200);
      range.scrolled(physical + 100);
      expect(range.top).toBe(9_500);
    });

    it("keeps the place when the content grows", () => {
      const range = make();
      range.goTo(500_000);
      range.resize(2_000_000, 500);
      expect(range.top).toBe(500_000);
      range.resize(100, 500);
      expect(range.top).toBe(0);
    });
  });
});
