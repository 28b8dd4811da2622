/** A scrolling tree of which only the lines in sight exist. */

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Side } from "../api/types";
import { stepWidths } from "../layout/rails";
import { ScrollRange } from "../layout/scroll_range";
import { ROW_UNITS } from "../model/row_tree";
import type { App } from "../state/app";
import type { GraphView, Spot } from "../state/graph_view";
import { text } from "../state/language";
import { ContextBar } from "./context_bar";
import { GraphLine } from "./graph_line";
import { LineContext } from "./line_context";

/** Rows drawn beyond the edges, and the step in which the drawn part moves. */
const MARGIN_ROWS = 8;
const SETTLE_MS = 200;
/** Height of a unit relative to the text size; a row is four units. */
const UNIT_PER_REM = 0.545;

export function GraphTree({ app, view, name }: { app: App; view: GraphView; name: string }) {
  const scroller = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const range = useRef(new ScrollRange()).current;
  const top = useSignal(0);
  const shift = useSignal(0);
  const size = useSignal({ height: 0, unit: 7, rem: 13 });

  const settle = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const moved = () => {
    top.value = range.top;
    shift.value = range.shift;
  };
  const resize = () => {
    range.resize(view.tree.height * size.value.unit, size.value.height);
    moved();
  };
  const onScroll = () => {
    const element = scroller.current;
    if (element === null) return;
    range.scrolled(element.scrollTop);
    moved();
    clearTimeout(settle.current);
    settle.current = setTimeout(() => {
      const physical = range.settled();
      if (Math.abs(element.scrollTop - physical) >= 1) element.scrollTop = physical;
      moved();
    }, SETTLE_MS);
  };

  useEffect(() => {
    const element = scroller.current;
    if (element === null || probe.current === null) return;
    const measure = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      size.value = {
        height: element.clientHeight,
        unit: Math.max(3, Math.round(rem * UNIT_PER_REM)),
        rem,
      };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(probe.current);
    measure();
    return () => observer.disconnect();
  }, [size]);

  useSignalEffect(() => {
    view.version.value;
    size.value;
    resize();
  });
  useSignalEffect(() => {
    const wanted = view.wanted.value;
    const { height, unit } = size.value;
    const element = scroller.current;
    if (wanted === null || height === 0 || element === null) return;
    view.wanted.value = null;
    resize();
    const to = scrollTarget(wanted, range.top, height, unit);
    if (to === null) return;
    const physical = range.goTo(to);
    // The spacer must be as tall as the new place needs before the element can go there.
    const spacer = element.querySelector<HTMLElement>(".spacer");
    if (spacer !== null) spacer.style.height = `${range.height}px`;
    element.scrollTop = physical;
    moved();
  });

  const select = (spot: Spot, side: Side) => {
    scroller.current?.focus({ preventScroll: true });
    void app.run(() => app.navigation.select(view, spot, side));
  };
  const lines = useComputed(() => {
    view.version.value;
    const { height, unit } = size.value;
    const step = MARGIN_ROWS * ROW_UNITS;
    const begin = Math.floor(top.value / unit / step) * step - step;
    return height === 0 ? [] : view.window(Math.max(0, begin), begin + 3 * step + height / unit);
  });
  useSignalEffect(() => {
    view.shown.value = lines.value;
  });
  const { bands, coloring } = app.workspace;
  const context = new LineContext(
    lines.value,
    bands.value,
    coloring.value,
    app.navigation.selected.value,
    name,
    select,
  );
  const { unit, rem } = size.value;
  const first = lines.value[0];
  const cursor = view.cursor.value;
  const active = lines.value.find(
    (line) => line.kind === "row" && line.parent === cursor?.parent && line.at === cursor.at,
  );
  return (
    <div class="tree-frame" style={{ "--unit": `${unit}px`, ...stepWidths(rem) }}>
      <div class="probe" ref={probe} />
      <ContextBar
        app={app}
        view={view}
        unit={Math.floor(top.value / unit) + (top.value === 0 ? 0 : ROW_UNITS)}
      />
      <div
        class="tree"
        ref={scroller}
        role="tree"
        tabIndex={0}
        aria-label={text(`tree.${view.sides}`)}
        aria-activedescendant={active?.kind === "row" ? context.idOf(active) : undefined}
        onScroll={onScroll}
        onFocus={() => {
          app.navigation.active.value = view;
        }}
      >
        <div class="spacer" style={{ height: `${range.height}px` }}>
          <div
            class="lines"
            style={{ transform: `translateY(${(first?.offset ?? 0) * unit + shift.value}px)` }}
          >
            {lines.value.map((line) => (
              <GraphLine key={`${line.kind}${line.offset}`} {...{ line, view, context }} />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

/** Where to scroll so that the wanted row is in sight; null if it is. */
function scrollTarget(
  wanted: { offset: number; center: boolean },
  top: number,
  height: number,
  unit: number,
): number | null {
  const begin = wanted.offset * unit;
  const row = ROW_UNITS * unit;
  // The bar that names the boxes around covers the first row.
  const low = top + row;
  const high = top + height - 2 * row;
  if (begin >= low && begin <= high) return null;
  if (wanted.center) return begin - (height - row) / 2.5;
  return begin < low ? begin - row : begin - height + 2 * row;
}
