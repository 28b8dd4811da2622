/** All steps and ranks at a glance, each in the colour of its worst node. */

import { useEffect, useRef } from "preact/hooks";
import type { Unit } from "../api/types";
import { readableIndex } from "../base/numbers";
import { unitPaint, worstOverflow } from "../model/paint";
import type { App } from "../state/app";
import { errorText, text } from "../state/language";

/** More ranks than this are shown for the current step alone. */
const MOST = 2_000;

export function UnitMap({ app }: { app: App }) {
  const { workspace } = app;
  const cells = useRef<HTMLDivElement>(null);
  const units = workspace.file.value?.units ?? [];
  const current = workspace.unit.value;
  useEffect(() => {
    if (cells.current !== null) showPressed(cells.current);
  }, [workspace.u.value, units.length]);
  if (units.length < 2) return null;
  const steps = units.length > MOST ? [current?.step ?? null] : workspace.steps.value;
  return (
    <section class="unit-map">
      <h2>{text("units.title")}</h2>
      <div
        class="unit-rows"
        ref={cells}
        role="toolbar"
        aria-label={text("units.title")}
        onKeyDown={moveAmongCells}
      >
        {steps.map((step) => (
          <div class="unit-row" key={step}>
            {steps.length > 1 && (
              <span class="unit-step">{text("units.step", { step: step ?? "–" })}</span>
            )}
            <div class="unit-cells">
              {units.map((unit, u) => unit.step === step && <Cell key={u} {...{ app, unit, u }} />)}
            </div>
          </div>
        ))}
      </div>
      {units.some((unit) => unit.culprits > 0) && (
        <p class="unit-signs">
          <i class="unit-sample" aria-hidden="true" />
          {text("units.culprit")}
        </p>
      )}
    </section>
  );
}

function Cell({ app, unit, u }: { app: App; unit: Unit; u: number }) {
  const { workspace } = app;
  const paint = unitPaint(workspace.coloring.value, workspace.bands.value, unit);
  const here = u === workspace.u.value;
  const title = titleOf(app, unit);
  const names = ["unit"];
  if (unit.culprits > 0) names.push("with-culprit");
  if (unit.error !== undefined) names.push("damaged");
  return (
    <button
      type="button"
      class={names.join(" ")}
      style={{ "--fill": `var(--fill-${paint})`, "--edge": `var(--edge-${paint})` }}
      aria-pressed={here}
      // One stop for Tab, however many there are; arrow keys go on from it.
      tabIndex={here ? 0 : -1}
      aria-label={title}
      title={title}
      onClick={() => void app.run(() => app.showUnit(u))}
    >
      {unit.rank ?? "–"}
      {unit.error !== undefined && "!"}
    </button>
  );
}

function titleOf({ workspace }: App, unit: Unit): string {
  const told = workspace.file.value?.overflow === true ? "units.graph" : "units.unchecked";
  const values = {
    step: unit.step ?? "–",
    rank: unit.rank ?? "–",
    worst: unit.worst === null ? "–" : readableIndex(unit.worst),
    culprits: unit.culprits,
    overflow: overflowText(unit),
  };
  if (unit.error !== undefined)
    return text("units.damaged", { ...values, error: errorText(unit.error) });
  if (unit.pending) return text("units.pending", values);
  return text(workspace.comparison.value ? "units.cell" : told, values);
}

function overflowText({ counts }: Unit): string {
  const level = worstOverflow(counts);
  return text(level === "" ? "overflow.none" : `overflow.${level}`);
}

/** Scrolls the map alone: the page stays where it is. */
function showPressed(map: HTMLElement): void {
  const cell = map.querySelector("[aria-pressed=true]")?.getBoundingClientRect();
  const seen = map.getBoundingClientRect();
  if (cell === undefined || (cell.top >= seen.top && cell.bottom <= seen.bottom)) return;
  map.scrollTop += (cell.top + cell.bottom - seen.top - seen.bottom) / 2;
}

function moveAmongCells(event: KeyboardEvent): void {
  const cells = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
  const from = cells.indexOf(event.target as HTMLButtonElement);
  const boxes = () => cells.map((cell) => cell.getBoundingClientRect());
  const to = from < 0 ? null : cellBeside(boxes, from, event.key);
  if (to === null) return;
  cells[to]?.focus();
  event.preventDefault();
}

/** The cell that a key leads to; rows break where there is no more room, so places decide. */
export function cellBeside(
  boxes: () => readonly Pick<DOMRect, "left" | "top">[],
  from: number,
  key: string,
): number | null {
  const all = boxes();
  const last = all.length - 1;
  const along = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[key];
  if (along !== undefined) return Math.min(Math.max(0, along), last);
  const here = all[from];
  const down = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (down === undefined || here === undefined) return null;
  const away = ({ top }: { top: number }) => (top - here.top) * down;
  const next = Math.min(...all.map(away).filter((distance) => distance > 1));
  const aside = (at: number) => Math.abs((all[at]?.left ?? 0) - here.left);
  const row = all.flatMap((box, at) => (Math.abs(away(box) - next) <= 1 ? [at] : []));
  return row.sort((one, other) => aside(one) - aside(other))[0] ?? from;
}
