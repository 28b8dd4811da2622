/** The boxes around the first line in sight, by name: says where one is after scrolling. */

import type { App } from "../state/app";
import type { GraphView, Spot } from "../state/graph_view";
import { text } from "../state/language";
import { NameText } from "../widgets/name_text";

const SHOWN = 6;

export function ContextBar({ app, view, unit }: { app: App; view: GraphView; unit: number }) {
  view.version.value; // names come with the pages
  const around = view.around(unit);
  if (around.length === 0) return null;
  const shown = around.slice(-SHOWN);
  const go = (spot: Spot) => void app.run(() => app.navigation.select(view, spot));
  return (
    <nav class="context" aria-label={text("tree.around")}>
      {around.length > SHOWN && (
        <span>{text("tree.more_around", { count: around.length - SHOWN })} ›</span>
      )}
      {shown.map((spot, i) => {
        const row = spot.parent.row(spot.at);
        const brief = row?.t ?? row?.g;
        return (
          <>
            {i > 0 && <span aria-hidden="true">›</span>}
            <button type="button" class="quiet" onClick={() => go(spot)}>
              <NameText className="" name={brief?.label ?? "…"} full={brief?.name ?? ""} />
            </button>
          </>
        );
      })}
    </nav>
  );
}
