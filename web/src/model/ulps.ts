/** How many elements of two tensors are how many units in the last place apart. */

/** The classes of the counts, as the server names them. */
export const ULP_CLASSES = ["0", "1", "2-3", "4-7", "8-15", "16-63", "64-1023", "1024+"] as const;

/** The counts of all classes out of `0:20 1:3 2-3:1`; null if it is something else. */
export function parseUlps(text: string): number[] | null {
  const counts = ULP_CLASSES.map(() => 0);
  for (const part of text.split(" ")) {
    const [name = "", count = ""] = part.split(":");
    const at = (ULP_CLASSES as readonly string[]).indexOf(name);
    if (at < 0 || !/^\d+$/.test(count)) return null;
    counts[at] = Number(count);
  }
  return counts;
}

/** The share of the elements that are at most one unit apart, in per cent; all only if all are. */
export function closeShare(counts: readonly number[]): number {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return 0;
  const close = (counts[0] ?? 0) + (counts[1] ?? 0);
  return close === all ? 100 : Math.min(99.9, Math.round((close / all) * 1000) / 10);
}

/** Heights of the bars, 0 … 1, by the logarithm: a few elements among millions must be seen. */
export function barHeights(counts: readonly number[]): number[] {
  const most = Math.max(1, ...counts);
  return counts.map((count) =>
    count === 0 ? 0 : Math.max(0.15, Math.log1p(count) / Math.log1p(most)),
  );
}
