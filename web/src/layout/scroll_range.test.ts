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

  it("keeps the row that stands on top when the text gets larger or smaller", () => {
    const range = new ScrollRange(28 * 1_000, 600, 100_000);
    range.goTo(28 * 500);
    expect(range.resize(32 * 1_000, 600, 32 / 28)).toBe(32 * 500);
    expect(range.top).toBe(32 * 500);
    expect(range.shift).toBe(0);
    expect(range.resize(28 * 1_000, 600, 28 / 32)).toBe(28 * 500);
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

    it("draws lines where they were while pages arrive and boxes open between small steps", () => {
      const range = make();
      for (let at = 100; at <= 2_000; at += 100) range.scrolled(at);
      expect(range.resize(1_000_000, 500)).toBeNull();
      expect([range.top, range.shift]).toEqual([2_000, 0]);
      range.scrolled(2_100);
      expect(range.top).toBe(2_100);
      // A hundred rows more, in the middle of all.
      range.goTo(500_000);
      const { shift } = range;
      expect(range.resize(1_002_800, 500)).toBeNull();
      expect([range.top, range.shift]).toEqual([500_000, shift]);
    });

    it("says where to scroll where the element is as tall as the content from now on", () => {
      const range = make();
      range.goTo(9_000);
      expect(range.resize(9_900, 500)).toBe(9_000);
      expect([range.top, range.shift]).toEqual([9_000, 0]);
      expect(range.resize(1_000_000, 500)).toBeNull();
      expect([range.top, range.shift]).toEqual([9_000, 0]);
    });
  });
});
