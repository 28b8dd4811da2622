/** The colours of both themes, and how the colours of a file's bands look in them. */

import { contrast, mix, parseHex, toHex } from "./color";

export type Theme = "light" | "dark";

export interface Palette {
  bg: string;
  surface: string;
  raised: string;
  ink: string;
  dim: string;
  line: string;
  accent: string;
  "on-accent": string;
  selected: string;
  /** Text on coloured rows: main and secondary. */
  "on-fill": string;
  "on-fill-dim": string;
  bad: string;
  "on-bad": string;
  alarm: string;
  "alarm-line": string;
  "alarm-ink": string;
  backward: string;
  "on-backward": string;
}

export const palettes: Record<Theme, Palette> = {
  light: {
    bg: "#f4f6f9",
    surface: "#ffffff",
    raised: "#eef1f6",
    ink: "#1a2130",
    dim: "#566072",
    line: "#d5dbe5",
    accent: "#2456d6",
    "on-accent": "#ffffff",
    selected: "#e3ebfd",
    "on-fill": "#1a2130",
    "on-fill-dim": "#2f3542",
    bad: "#ffe0d6",
    "on-bad": "#7a1d05",
    alarm: "#fff3ee",
    "alarm-line": "#f0b29f",
    "alarm-ink": "#963418",
    backward: "#5b3fa8",
    "on-backward": "#ffffff",
  },
  dark: {
    bg: "#12151a",
    surface: "#1a1e26",
    raised: "#252b36",
    ink: "#e9ecf2",
    dim: "#a7b0c0",
    line: "#353c4a",
    accent: "#8fb0ff",
    "on-accent": "#0e1526",
    selected: "#27345a",
    "on-fill": "#f3f5f9",
    "on-fill-dim": "#d9dee7",
    bad: "#5c281b",
    "on-bad": "#ffd9cd",
    alarm: "#2b1d1a",
    "alarm-line": "#70392a",
    "alarm-ink": "#ffb19b",
    backward: "#c4b1ff",
    "on-backward": "#1d1440",
  },
};

/** The colour of a file's band or of a status as a background on which text stays readable. */
export function fillOf(theme: Theme, color: string, severity: number): string {
  const palette = palettes[theme];
  const hue = theme === "light" ? color : vivid(color);
  let share = theme === "light" ? 1 : 0.08 + 0.62 * severity;
  for (; share > 0.02; share -= 0.02) {
    const fill = mix(palette.surface, hue, share);
    if (contrast(fill, palette["on-fill-dim"]) >= 4.6) return fill;
  }
  return palette.surface;
}

/** A pale colour with more of its hue: pale ones all turn grey on a dark ground. */
function vivid(color: string): string {
  const parts = parseHex(color);
  const white = 0.6 * Math.min(...parts);
  const scale = 255 / Math.max(1, Math.max(...parts) - white);
  const part = (i: 0 | 1 | 2) => (parts[i] - white) * scale;
  const greyish = Math.max(...parts) - Math.min(...parts) < 8;
  return greyish ? color : toHex([part(0), part(1), part(2)]);
}

export const unmatchedColor = "#C7C7C7";

/** Colours of what has no bands: the status of a comparison, the level of an overflow. */
export const wordColors: Record<string, { color: string; severity: number }> = {
  pass: { color: "#CDEBD3", severity: 0.3 },
  warning: { color: "#FFDC7F", severity: 0.6 },
  error: { color: "#FF704D", severity: 1 },
  unreadable: { color: "#D9C9F7", severity: 0.6 },
  unmatched: { color: unmatchedColor, severity: 0.45 },
  medium: { color: "#FFEDBE", severity: 0.4 },
  high: { color: "#FFC62E", severity: 0.75 },
  critical: { color: "#FF704D", severity: 1 },
};

/** All custom properties of a theme, with the fills and edges of these band colours. */
export function themeProperties(theme: Theme, bands: readonly string[]): Record<string, string> {
  const { surface, bg, line, ...palette } = palettes[theme];
  const properties: Record<string, string> = {};
  const named = { surface, bg, line, ...palette };
  for (const [name, color] of Object.entries(named)) properties[`--${name}`] = color;
  const put = (name: string, color: string, severity: number) => {
    const fill = fillOf(theme, color, severity);
    properties[`--fill-${name}`] = fill;
    properties[`--frame-${name}`] = mix(bg, fill, 0.6);
    properties[`--edge-${name}`] =
      theme === "light" ? mix(color, "#3a2a10", 0.24) : mix(surface, color, 0.45 + 0.4 * severity);
    properties[`--mark-${name}`] =
      theme === "light"
        ? mix(color, "#8a5a00", 0.1)
        : mix(surface, vivid(color), 0.4 + 0.6 * severity);
  };
  const last = Math.max(1, bands.length - 1);
  for (const [i, color] of bands.entries()) put(`band-${i}`, color, i / last);
  for (const [word, { color, severity }] of Object.entries(wordColors)) put(word, color, severity);
  properties["--fill-none"] = surface;
  properties["--frame-none"] = mix(bg, surface, 0.6);
  properties["--edge-none"] = line;
  return properties;
}
