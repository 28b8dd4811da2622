/** Colours as numbers: mixing, and the contrast of WCAG 2. */

export type Rgb = readonly [number, number, number];

export function parseHex(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

export function toHex(color: Rgb): string {
  return `#${color.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/** `share` of `over` on top of `under`. */
export function mix(under: string, over: string, share: number): string {
  const from = parseHex(under);
  const to = parseHex(over);
  const part = (i: 0 | 1 | 2) => from[i] + (to[i] - from[i]) * share;
  return toHex([part(0), part(1), part(2)]);
}

function luminance(hex: string): number {
  const linear = parseHex(hex).map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
}

export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}
