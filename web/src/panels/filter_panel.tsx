/** The legend, which is the filter as well: colours, statuses and overflow levels with counts. */

import type { Band, Filter, Side, UnitCounts } from "../api/types";
import { groupDigits } from "../base/numbers";
import type { Coloring, Paint } from "../model/paint";
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

/** What the boxes can be coloured by, each with all its colours. */
type Groups = Record<Coloring, Choice[]>;

function groupsOf(app: App, counts: UnitCounts): Groups {
  const groups: Groups = { index: [], status: [], overflow: [] };
  const put = (group: Coloring, filter: Filter, name: string, count: number, paint: Paint) => {
    groups[group].push({ filter, side: "t", name, count, paint });
  };
  if (app.workspace.comparison.value) {
    for (const [i, band] of app.workspace.bands.value.entries()) {
      const filter: Filter = { by: "band", value: String(i) };
      put("index", filter, bandName(band), counts.bands[i] ?? 0, `band-${i}`);
    }
    for (const value of ["error", "warning", "unreadable", "pass"] as const) {
      if (counts[value] === 0 && value !== "error") continue;
      put("status", { by: "status", value }, text(`status.${value}`), counts[value], value);
    }
  }
  if (app.workspace.file.value?.overflow) {
    // A legend tells all colours, also those that this rank has none of.
    const legend = app.workspace.coloring.value === "overflow";
    for (const value of ["critical", "high", "medium"] as const) {
      const count = counts.overflow[value];
      if (count > 0 || legend)
        put("overflow", { by: "overflow", value }, text(`overflow.${value}`), count, value);
    }
  }
  return groups;
}

/** Grey whatever the colours mean but overflow, which a node without a partner can have too. */
function unmatchedChoices(counts: UnitCounts): Choice[] {
  return (["t", "g"] as const).map((side, i) => ({
    filter: { by: "unmatched", value: "" },
    side,
    name: text(`filter.unmatched_${side}`),
    count: counts.unmatched[i] ?? 0,
    paint: "unmatched",
  }));
}

export function FilterPanel({ app }: { app: App }) {
  const { workspace } = app;
  const counts = workspace.unit.value?.counts;
  if (counts === undefined) return null;
  const groups = groupsOf(app, counts);
  const coloring = workspace.coloring.value;
  if (workspace.comparison.value) {
    groups[coloring === "status" ? "status" : "index"].push(...unmatchedChoices(counts));
  }
  // What the boxes are coloured by stands first and large: it is their legend.
  const others = (["index", "status", "overflow"] as const).filter((group) => group !== coloring);
  const legend = groups[coloring];
  const most = Math.max(1, ...legend.map((choice) => choice.count));
  return (
    <section class="filters">
      {legend.length > 0 && <h2>{text(`filter.${coloring}`)}</h2>}
      <div class="bands">
        {legend.map((choice) => (
          <BandButton key={choice.name} {...{ app, choice, most }} />
        ))}
      </div>
      {others.map((group) => (
        <Chips key={group} app={app} name={text(`filter.${group}`)} choices={groups[group]} />
      ))}
    </section>
  );
}

function toggle(app: App, choice: Choice): void {
  if (isOn(app, choice)) app.suspects.setFilter(SUSPICIOUS);
  else app.suspects.setFilter(choice.filter, choice.side);
}

function BandButton({ app, choice, most }: { app: App; choice: Choice; most: number }) {
  return (
    <button
      type="button"
      class="band"
      aria-pressed={isOn(app, choice)}
      onClick={() => toggle(app, choice)}
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
  );
}

function Chips({ app, name, choices }: { app: App; name: string; choices: Choice[] }) {
  if (choices.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: no fields, but choices that belong together
    <div class="chips" role="group" aria-label={name}>
      {choices.map((choice) => (
        <button
          type="button"
          class="chip"
          key={choice.name}
          title={`${name}: ${text("filter.hint")}`}
          aria-pressed={isOn(app, choice)}
          onClick={() => toggle(app, choice)}
        >
          <i class="swatch" style={swatch(choice.paint)} />
          {choice.name}
          <span class="count">{groupDigits(choice.count)}</span>
        </button>
      ))}
    </div>
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
