import { describe, expect, it } from "vitest";
import { contrast } from "./color";
import { fillOf, palettes, type Theme, themeProperties } from "./theme";

const READABLE = 4.5;
/** Bands as the core writes them: five for statistics and real data, three for .vis.db, two for md5. */
const BANDS = [
  ["#FFFCF3", "#FFEDBE", "#FFDC7F", "#FFC62E", "#FF704D"],
  ["#FFFCF3", "#FFDC7F", "#FF704D"],
  ["#FFFCF3", "#FF704D"],
];

describe.each<Theme>(["light", "dark"])("%s theme", (theme) => {
  const palette = palettes[theme];

  it.each(BANDS)("has readable text on the bands %s", (...bands) => {
    for (const [name, fill] of Object.entries(themeProperties(theme, bands))) {
      if (!name.startsWith("--fill-")) continue;
      expect(contrast(fill, palette["on-fill"]), `${name} main`).toBeGreaterThanOrEqual(READABLE);
      expect(contrast(fill, palette["on-fill-dim"]), name).toBeGreaterThanOrEqual(READABLE);
    }
  });

  it("has readable text everywhere else", () => {
    const pairs: [keyof typeof palette, keyof typeof palette][] = [
      ["ink", "bg"],
      ["ink", "surface"],
      ["ink", "raised"],
      ["ink", "selected"],
      ["dim", "bg"],
      ["dim", "surface"],
      ["dim", "raised"],
      ["dim", "selected"],
      ["accent", "surface"],
      ["accent", "bg"],
      ["on-accent", "accent"],
      ["on-bad", "bad"],
      ["ink", "alarm"],
      ["dim", "alarm"],
      ["alarm-ink", "alarm"],
      ["alarm-ink", "surface"],
      ["on-backward", "backward"],
    ];
    for (const [text, ground] of pairs) {
      const value = contrast(palette[text], palette[ground]);
      expect(value, `${text} on ${ground}`).toBeGreaterThanOrEqual(READABLE);
    }
  });

  it("keeps text readable on any colour that a file may bring", () => {
    for (const color of ["#000000", "#0000ff", "#7f0000", "#123456", "#ffffff"]) {
      const fill = fillOf(theme, color, 1);
      expect(contrast(fill, palette["on-fill"])).toBeGreaterThanOrEqual(READABLE);
    }
  });
});
