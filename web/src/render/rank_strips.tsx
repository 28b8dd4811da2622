/** Beside the overview: the same strip for every rank of the step, narrow, to see which is bad. */

import type { Unit } from "../api/types";
import { STRIP_PARTS, stripGradient, stripOf } from "../layout/strip";
import { markOf } from "../model/paint";
import type { App } from "../state/app";
import { text } from "../state/language";

/** More ranks than this leave no room for the trees. */
const MOST_RANKS = 24;

/** A strip with the space beside it, and what all of them take besides, in units of the text size. */
const STRIP_REM = 0.82;
const AROUND_REM = 0.45;

/** The ranks that have a strip each. */
function ranksOf({ workspace }: App): { unit: Unit; u: number }[] {
  const step = workspace.unit.value?.step;
  const ranks: { unit: Unit; u: number }[] = [];
  for (const [u, unit] of (workspace.file.value?.units ?? []).entries()) {
    if (unit.step === step) ranks.push({ unit, u });
  }
  return ranks.length < 2 || ranks.length > MOST_RANKS ? [] : ranks;
}

/** The width of all strips, in units of the text size. */
export function rankStripsWidth(app: App): number {
  const { length } = ranksOf(app);
  return length === 0 ? 0 : AROUND_REM + length * STRIP_REM;
}

export function RankStrips({ app }: { app: App }) {
  const { workspace } = app;
  const ranks = ranksOf(app);
  if (ranks.length === 0) return null;
  const go = (event: MouseEvent, u: number) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const part = (event.clientY - box.top) / box.height;
    void app.run(async () => {
      if (!(await app.showUnit(u))) return;
      const bins = await workspace.source.overview(workspace.ref, STRIP_PARTS);
      const bin = bins[Math.min(bins.length - 1, Math.floor(part * bins.length))];
      if (bin === undefined) return;
      const { id } = markOf(workspace.coloring.value, workspace.bands.value, bin);
      await app.navigation.go({ side: bin.side, id });
    });
  };
  return (
    // The map of units tells the same to the keyboard and to who hears the page.
    <div class="rank-strips" aria-hidden="true">
      {ranks.map(({ unit, u }) => (
        <button
          type="button"
          key={u}
          tabIndex={-1}
          class={`${u === workspace.u.value ? "here" : ""} ${unit.culprits > 0 ? "with-culprit" : ""}`}
          title={text("overview.rank", { rank: unit.rank ?? "–" })}
          onClick={(event) => go(event, u)}
        >
          <i style={{ background: stripGradient(stripOf(workspace.coloring.value, unit)) }} />
          <b>{unit.rank ?? "–"}</b>
        </button>
      ))}
    </div>
  );
}
