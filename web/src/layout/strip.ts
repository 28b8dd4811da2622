/** A strip of colours from the letters in which a unit tells where it is bad. */

/** Into how many parts a unit cuts its run. */
export const STRIP_PARTS = 48;

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

function colorOf(part: string): string {
  // What is fine is no mark.
  if (part === "." || part === "0") return "transparent";
  return part === "u" ? "var(--edge-unmatched)" : `var(--mark-band-${part})`;
}
