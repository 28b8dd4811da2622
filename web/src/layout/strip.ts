/** A strip of colours from the letters in which a unit tells where it is bad. */

import type { Unit } from "../api/types";
import type { Coloring } from "../model/paint";

/** Into how many parts a unit cuts its run. */
export const STRIP_PARTS = 48;

/** The strip of a unit by what the colours mean. */
export function stripOf(coloring: Coloring, unit: Unit): string {
  if (coloring === "status") return unit.strip_status ?? "";
  return (coloring === "overflow" ? unit.strip_overflow : unit.strip) ?? "";
}

/** The background of a strip, from the first part at the top to the last one. */
export function stripGradient(strip: string): string {
  if (strip === "") return "none";
  const stops: string[] = [];
  let begin = 0;
  for (let at = 1; at <= strip.length; at += 1) {
    if (at < strip.length && strip[at] === strip[begin]) continue;
    const share = (part: number) => `${Math.round((part / strip.length) * 10_000) / 100}%`;
    stops.push(`${colorOf(strip[begin] ?? ".")} ${share(begin)} ${share(at)}`);
    begin = at;
  }
  return `linear-gradient(${stops.join(", ")})`;
}

const COLORS: Record<string, string> = {
  u: "--edge-unmatched",
  w: "--mark-warning",
  r: "--mark-unreadable",
  e: "--mark-error",
  m: "--mark-medium",
  h: "--mark-high",
  c: "--mark-critical",
};

function colorOf(part: string): string {
  // What is fine is no mark.
  if (part === "." || part === "0") return "transparent";
  return `var(${COLORS[part] ?? `--mark-band-${part}`})`;
}
