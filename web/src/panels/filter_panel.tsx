/** The legend, which is the filter as well: colours, statuses and overflow levels with counts. */

import type { Band, Filter, Side, UnitCounts } from "../api/types";
import { groupDigits } from "../base/numbers";
import type { Paint } from "../model/paint";
import type { App } from "../state/app";
import { text } from "../state/language";
import { SUSPICIOUS, sameFilter } from "../state/suspects";

interface Choice {
  filter: Filter;
  side: Side;
  name: string;
  count: number;
  paint: Paint;
}

export function bandName(band: Band): string {
  const number = (value: number) => String(Math.round(value * 1000) / 1000);
  return `${number(band.lo)} – ${number(band.hi)}`;
}

export function filterName(filter: Filter, side: Side, bands: readonly Band[]): string {
  if (filter.by === "band") {
    const band = bands[Number(filter.value)];
    return band === undefined ? "" : text("filter.band", { band: bandName(band) });
  }
  if (filter.by === "unmatched") return text(`filter.unmatched_${side}`);
  if (filter.by === "overflow") return text(overflowKey(filter.value));
  if (filter.by === "status") return text(statusKey(filter.value));
  return text(filter.by === "role" ? "filter.culprits" : "filter.suspicious");
}

type StatusKey = "status.pass" | "status.warning" | "status.error" | "status.unreadable";
const statusKey = (value: string) => `status.${value}` as StatusKey;
type OverflowKey = "overflow.medium" | "overflow.high" | "overflow.critical";
const overflowKey = (value: string) => `overflow.${value}` as OverflowKey;

function bandChoices(bands: readonly Band[], counts: UnitCounts): Choice[] {
  const choices: Choice[] = bands.map((band, i) => ({
    filter: { by: "band", value: String(i) },
    side: "t",
    name: bandName(band),
    count: counts.bands[i] ?? 0,
    paint: `band-${i}`,
  }));
  for (const [i, side] of (["t", "g"] as const).entries()) {
    choices.push({
      filter: { by: "unmatched", value: "" },
      side,
      name: text(`filter.unmatched_${side}`),
      count: counts.unmatched[i] ?? 0,
      paint: "unmatched",
    });
  }
  return choices;
}

function wordChoices(counts: UnitCounts, overflow: boolean, comparison: boolean): Choice[] {
  const choices: Choice[] = [];
  const put = (by: "status" | "overflow", value: string, name: string, count: number) => {
    choices.push({ filter: { by, value }, side: "t", name, count, paint: value });
  };
  for (const value of ["error", "warning", "unreadable", "pass"] as const) {
    if (comparison && (counts[value] > 0 || value === "error")) {
      put("status", value, text(`status.${value}`), counts[value]);
    }
  }
  for (const value of ["critical", "high", "medium"] as const) {
    if (overflow && counts.overflow[value] > 0)
      put("overflow", value, text(`overflow.${value}`), counts.overflow[value]);
  }
  return choices;
}

export function FilterPanel({ app }: { app: App }) {
  const { workspace, suspects } = app;
  const counts = workspace.unit.value?.counts;
  if (counts === undefined) return null;
  const comparison = workspace.comparison.value;
  const bands = comparison ? bandChoices(workspace.bands.value, counts) : [];
  const words = wordChoices(counts, workspace.file.value?.overflow ?? false, comparison);
  const most = Math.max(1, ...bands.map((choice) => choice.count));
  const toggle = (choice: Choice) => {
    if (isOn(app, choice)) suspects.setFilter(SUSPICIOUS);
    else suspects.setFilter(choice.filter, choice.side);
  };
  return (
    <section class="filters">
      {comparison && <h2>{text("filter.title")}</h2>}
      {bands.map((choice) => (
        <button
          type="button"
          class="band"
          key={choice.name}
          aria-pressed={isOn(app, choice)}
          onClick={() => toggle(choice)}
          title={text("filter.hint")}
        >
          <i class="swatch" style={swatch(choice.paint)} />
          <span class="band-name">{choice.name}</span>
          <span class="bar">
            <i
              style={{ ...swatch(choice.paint), width: `${barWidth(choice.count, most)}%` }}
              hidden={choice.count === 0}
            />
          </span>
          <span class="count">{groupDigits(choice.count)}</span>
        </button>
      ))}
      {words.length > 0 && (
        <div class="chips">
          {words.map((choice) => (
            <button
              type="button"
              class="chip"
              key={choice.name}
              aria-pressed={isOn(app, choice)}
              onClick={() => toggle(choice)}
            >
              <i class="swatch" style={swatch(choice.paint)} />
              {choice.name}
              <span class="count">{groupDigits(choice.count)}</span>
            </button>
          ))}
        </div>
      )}
    </section>
  );
}

function isOn(app: App, choice: Choice): boolean {
  const { filter, side } = app.suspects;
  return sameFilter(filter.value, choice.filter) && side.value === choice.side;
}

function swatch(paint: Paint) {
  return { "--fill": `var(--fill-${paint})`, "--edge": `var(--edge-${paint})` };
}

/** Bars grow with the logarithm: ten red nodes among ten thousand must be seen. */
function barWidth(count: number, most: number): number {
  return Math.max(3, (Math.log1p(count) / Math.log1p(most)) * 100);
}
