/** The left panel: which rank is bad, where it begins, which nodes to look at. */

import type { Item } from "../api/types";
import { groupDigits } from "../base/numbers";
import { type App, sentence } from "../state/app";
import { text } from "../state/language";
import { DivergenceCard } from "./divergence_card";
import { FilterPanel, filterName } from "./filter_panel";
import { ItemList } from "./item_list";
import { UnitMap } from "./unit_map";

export function SidePanel({ app }: { app: App }) {
  // Where a rank cannot be shown, others can still be chosen.
  const whole = isShown(app);
  return (
    <aside aria-label={text(whole ? "side.label" : "units.title")}>
      <UnitMap app={app} />
      {whole && <OfUnit app={app} />}
    </aside>
  );
}

function OfUnit({ app }: { app: App }) {
  return (
    <>
      <DivergenceCard app={app} />
      <FilterPanel app={app} />
      <NodeList app={app} />
    </>
  );
}

/** Whether the trees of a unit are there to be seen. */
export function isShown(app: App): boolean {
  return app.workspace.views.value.length > 0 && app.failure.value === null;
}

/** Nothing to compare, nothing to choose: then the panel would be empty. */
export function hasSidePanel(app: App): boolean {
  const file = app.workspace.file.value;
  if (file === null) return false;
  if (!isShown(app)) return file.units.length > 1;
  const { medium = 0, high = 0, critical = 0 } = app.workspace.unit.value?.counts.overflow ?? {};
  return app.workspace.comparison.value || file.units.length > 1 || medium + high + critical > 0;
}

function NodeList({ app }: { app: App }) {
  const { suspects, navigation } = app;
  const list = suspects.list.value;
  if (list === null) return null;
  const total = list.total.value;
  const choose = (item: Item) =>
    void app.run(() => navigation.go({ side: item.side, id: item.id }));
  const name = filterName(suspects.listed.value, suspects.side.value, app.workspace.bands.value);
  return (
    <section class="node-list">
      <h2>
        <span>
          {name}
          {total !== null && <b class="count">{groupDigits(total)}</b>}
        </span>
        <span class="keys">
          <button
            type="button"
            class="key"
            title={text("list.previous")}
            onClick={() => step(app, false)}
          >
            N
          </button>
          <button
            type="button"
            class="key"
            title={text("list.next")}
            onClick={() => step(app, true)}
          >
            n
          </button>
        </span>
      </h2>
      {list.error.value !== null && <p class="empty">{sentence(list.error.value)}</p>}
      {total === 0 ? (
        <p class="empty">{text(emptyKey(app))}</p>
      ) : (
        <ItemList {...{ app, list, choose, id: "nodes" }} label={name} />
      )}
    </section>
  );
}

/** Goes to the next or previous node of the list. */
export function step(app: App, forward: boolean): void {
  void app.run(async () => {
    const result = await app.suspects.step(forward);
    if (result === "wrapped") app.say(text(forward ? "list.from_start" : "list.from_end"));
    if (result === "none") app.say(text(emptyKey(app)));
  });
}

function emptyKey(app: App): "list.empty" | "list.nothing_suspicious" {
  return app.suspects.filtered.value ? "list.empty" : "list.nothing_suspicious";
}
