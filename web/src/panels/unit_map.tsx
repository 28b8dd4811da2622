/** All steps and ranks at a glance, each in the colour of its worst node. */

import type { Unit } from "../api/types";
import { readableIndex } from "../base/numbers";
import { unitPaint, worstOverflow } from "../model/paint";
import type { App } from "../state/app";
import { text } from "../state/language";

/** More ranks than this are shown for the current step alone. */
const MOST = 2_000;

export function UnitMap({ app }: { app: App }) {
  const { workspace } = app;
  const units = workspace.file.value?.units ?? [];
  if (units.length < 2) return null;
  const current = workspace.unit.value;
  const alone = !workspace.comparison.value;
  const told = workspace.file.value?.overflow === true ? "units.graph" : "units.unchecked";
  const steps = units.length > MOST ? [current?.step ?? null] : workspace.steps.value;
  return (
    <section class="unit-map">
      <h2>{text("units.title")}</h2>
      {steps.map((step) => (
        <div class="unit-row" key={step}>
          {steps.length > 1 && (
            <span class="unit-step">{text("units.step", { step: step ?? "–" })}</span>
          )}
          <div class="unit-cells">
            {units.map((unit, u) => {
              if (unit.step !== step) return null;
              const paint = unitPaint(workspace.coloring.value, workspace.bands.value, unit);
              const title =
                unit.error ??
                text(unit.pending ? "units.pending" : alone ? told : "units.cell", {
                  step: unit.step ?? "–",
                  rank: unit.rank ?? "–",
                  worst: unit.worst === null ? "–" : readableIndex(unit.worst),
                  culprits: unit.culprits,
                  overflow: overflowText(unit),
                });
              return (
                <button
                  type="button"
                  key={u}
                  class={unit.culprits > 0 ? "unit with-culprit" : "unit"}
                  style={{ "--fill": `var(--fill-${paint})`, "--edge": `var(--edge-${paint})` }}
                  aria-pressed={u === workspace.u.value}
                  aria-label={title}
                  title={title}
                  onClick={() => void app.run(() => app.showUnit(u))}
                >
                  {unit.rank ?? "–"}
                </button>
              );
            })}
          </div>
        </div>
      ))}
    </section>
  );
}

function overflowText({ counts }: Unit): string {
  const level = worstOverflow(counts);
  return text(level === "" ? "overflow.none" : `overflow.${level}`);
}
