/** A scrolling tree of which only the lines in sight exist. */

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Side } from "../api/types";
import { levelsLeftOut, levelWidths } from "../layout/nesting";
import { ScrollRange } from "../layout/scroll_range";
import type { RowLine, Window } from "../layout/window";
import { ROW_UNITS } from "../model/row_tree";
import type { App } from "../state/app";
import { type GraphView, isRow, type Spot } from "../state/graph_view";
import { text } from "../state/language";
import { language, split } from "../state/preferences";
import { BoxFrames } from "./box_frames";
import { ContextBar } from "./context_bar";
import { GraphLine } from "./graph_line";
import { Look } from "./look";

/** Rows drawn beyond the edges, and the step in which the drawn part moves. */
const MARGIN_ROWS = 8;
const SETTLE_MS = 200;
/** Height of a unit relative to the text size; a row is four units. */
const UNIT_PER_REM = 0.545;
const NO_LINES: Window = { lines: [], frames: [], missing: [], touched: new Set() };
const BOTH: readonly Side[] = ["t", "g"];
const ONE: Record<Side, readonly Side[]> = { t: ["t"], g: ["g"] };

interface Size {
  height: number;
  /** Of a line, and of the space between its halves. */
  width: number;
  gutter: number;
  unit: number;
  rem: number;
}

function sidesOf(view: GraphView): readonly Side[] {
  if (view.sides !== "both") return ONE[view.sides];
  return view.tree.root.golden >= 0 ? BOTH : ONE.t;
}

/** Pixels of each half. */
function halfWidths(sides: readonly Side[], { width, gutter }: Size): Record<Side, number> {
  if (sides.length === 1) return { t: width, g: width };
  const t = (width - gutter) * split.value;
  return { t, g: width - gutter - t };
}

export function GraphTree({ app, view, name }: { app: App; view: GraphView; name: string }) {
  const scroller = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const lines = useRef<HTMLDivElement>(null);
  const range = useRef(new ScrollRange()).current;
  const top = useSignal(0);
  const shift = useSignal(0);
  const size = useSignal<Size>({ height: 0, width: 0, gutter: 0, unit: 7, rem: 13 });

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

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || probe.current === null) return;
    const measure = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      size.value = {
        height: element.clientHeight,
        width: lines.current?.clientWidth ?? 0,
        gutter: probe.current?.clientWidth ?? 0,
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

  const idOf = (line: RowLine) => `${name}-${line.parent.target}-${line.parent.golden}-${line.at}`;
  const drawn = useComputed(() => {
    view.version.value;
    const { height, unit } = size.value;
    const step = MARGIN_ROWS * ROW_UNITS;
    const begin = Math.floor(top.value / unit / step) * step - step;
    if (height === 0) return NO_LINES;
    return view.window(Math.max(0, begin), begin + 3 * step + height / unit);
  });
  useSignalEffect(() => {
    view.shown.value = drawn.value.lines;
  });
  const lastLook = useRef<Look | null>(null);
  const look = useComputed(() => {
    const sides = sidesOf(view);
    const { rem } = size.value;
    const deepest = drawn.value.lines.reduce((most, line) => Math.max(most, line.depth), 0);
    const made = new Look(
      ...([sides, halfWidths(sides, size.value), levelWidths(rem), rem] as const),
      levelsLeftOut(deepest),
      app.workspace.bands.value,
      app.workspace.coloring.value,
      language.value,
    );
    if (lastLook.current?.same(made) !== true) lastLook.current = made;
    return lastLook.current as Look;
  });
  /** The row that an event is about. */
  const rowOf = (event: Event): { line: RowLine; side: Side } | null => {
    const target = event.target as HTMLElement;
    const half = target.closest(".half");
    const id = half?.parentElement?.id;
    const line = drawn.peek().lines.find((one) => isRow(one) && idOf(one) === id);
    if (line === undefined || line.kind !== "row") return null;
    return { line, side: half?.classList.contains("g") === true ? "g" : "t" };
  };
  const click = (event: MouseEvent) => {
    const found = rowOf(event);
    if (found === null) return;
    const spot: Spot = { parent: found.line.parent, at: found.line.at };
    scroller.current?.focus({ preventScroll: true });
    void app.run(() => app.navigation.select(view, spot, found.side));
    if ((event.target as HTMLElement).closest(".twist") !== null) view.toggle(spot);
  };
  const doubleClick = (event: MouseEvent) => {
    const found = rowOf(event);
    // The arrow has opened and closed it already.
    if (found === null || (event.target as HTMLElement).closest(".twist") !== null) return;
    view.toggle({ parent: found.line.parent, at: found.line.at });
  };
  const { unit } = size.value;
  const { frames, ...shown } = drawn.value;
  const rows = shown.lines.filter(isRow);
  const begin = shown.lines[0]?.offset ?? 0;
  const end = shown.lines.at(-1)?.offset ?? 0;
  const selected = app.navigation.selected.value;
  const isSelected = ({ row }: RowLine) =>
    selected !== null &&
    row !== undefined &&
    ((row.t !== null && row.t.id === selected.t) || (row.g !== null && row.g.id === selected.g));
  const cursor = view.cursor.value;
  const active = rows.find((line) => line.parent === cursor?.parent && line.at === cursor.at);
  return (
    <div class="tree-frame" style={{ "--unit": `${unit}px` }}>
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
        aria-activedescendant={active === undefined ? undefined : idOf(active)}
        onScroll={onScroll}
        onFocus={() => {
          app.navigation.active.value = view;
        }}
      >
        <div class="spacer" style={{ height: `${range.height}px` }}>
          {/* biome-ignore lint/a11y/noStaticElementInteractions: the tree handles the keyboard */}
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keyboard */}
          <div
            class="lines"
            ref={lines}
            style={{ transform: `translateY(${begin * unit + shift.value}px)` }}
            onClick={click}
            onDblClick={doubleClick}
          >
            {look.value.sides.map((side) => (
              <BoxFrames key={side} {...{ frames, side, begin, end, unit }} look={look.value} />
            ))}
            {rows.map((line, i) => {
              const before = rows[i - 1];
              const above = before === undefined ? begin : before.offset + ROW_UNITS;
              const id = idOf(line);
              return (
                <GraphLine
                  key={id}
                  {...{ id, line }}
                  space={(line.offset - above) * unit}
                  selected={isSelected(line)}
                  look={look.value}
                />
              );
            })}
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
