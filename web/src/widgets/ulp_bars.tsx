/** A small histogram: how many elements are how many units in the last place apart. */

import { groupDigits } from "../base/numbers";
import { barHeights, closeShare, parseUlps, ULP_CLASSES } from "../model/ulps";
import { text } from "../state/language";

export function UlpBars({ counts: said }: { counts: string }) {
  const counts = parseUlps(said);
  if (counts === null) return <bdi data-copy={said}>{said.slice(0, 100)}</bdi>;
  const lines = ULP_CLASSES.map((name, i) => [name, counts[i] ?? 0] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => text("ulps.line", { name, count: groupDigits(count) }));
  const heights = barHeights(counts);
  return (
    <span class="ulps" data-copy={said} title={[text("ulps.title"), ...lines].join("\n")}>
      <span class="ulp-bars" aria-hidden="true">
        {ULP_CLASSES.map((name, i) => (
          <i key={name} style={{ height: `${Math.round(100 * (heights[i] ?? 0))}%` }} />
        ))}
      </span>
      {text("ulps.close", { share: closeShare(counts) })}
    </span>
  );
}
