/** The lines of a tree that are in sight, some more above and below, and the boxes around them. */

import { useComputed, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import type { Side } from "../api/types";
import { levelsLeftOut, levelWidths } from "../layout/nesting";
import type { RowLine, Window } from "../layout/window";
import { END_UNITS, ROW_UNITS } from "../model/row_tree";
import type { App } from "../state/app";
import { type GraphView, isRow, type Spot } from "../state/graph_view";
import type { Selected } from "../state/navigation";
import { language, split } from "../state/preferences";
import { BoxFrames } from "./box_frames";
import { GraphLine } from "./graph_line";
import { Look } from "./look";
import { originOf } from "./origin";
import type { Size, TreeScroll } from "./tree_scroll";

/** Rows drawn beyond the edges, and the step in which the drawn part moves. */
const MARGIN_ROWS = 8;
const STEP_ROWS = 4;
const NO_LINES: Window = { lines: [], frames: [], missing: [], touched: new Set() };
const BOTH: readonly Side[] = ["t", "g"];
const ONE: Record<Side, readonly Side[]> = { t: ["t"], g: ["g"] };

interface Props {
  app: App;
  view: GraphView;
  /** Ids of rows begin with it. */
  name: string;
  scroll: TreeScroll;
  element: RefObject<HTMLDivElement | null>;
  /** Takes the focus when a row is clicked. */
  focus: () => void;
}

/** Id of the element of a row. */
export function rowId(name: string, spot: Spot): string {
  return `${name}-${spot.parent.target}-${spot.parent.golden}-${spot.at}`;
}

export function TreeLines({ app, view, name, scroll, element, focus }: Props) {
  const { size } = scroll;
  // Scrolling by less than a step draws nothing anew.
  const step = STEP_ROWS * ROW_UNITS;
  const margin = MARGIN_ROWS * ROW_UNITS;
  const from = useComputed(
    () => Math.floor(scroll.top.value / size.value.unit / step) * step - margin,
  );
  const drawn = useComputed(() => {
    view.version.value;
    const { height, unit } = size.value;
    if (height === 0) return NO_LINES;
    return view.window(Math.max(0, from.value), from.value + step + 2 * margin + height / unit);
  });
  useSignalEffect(() => {
    view.shown.value = drawn.value.lines;
  });
  useSignalEffect(() => {
    const { height, unit } = size.value;
    view.see(Math.floor(scroll.top.value / unit), Math.ceil(height / unit));
  });
  const look = useLook(app, view, drawn, size);
  // A double click means the row of its first click: what that shows below may have moved the rows.
  const clicked = useRef<Found | null>(null);
  const click = (event: MouseEvent) => {
    if (event.detail < 2) clicked.current = rowOf(event, drawn.peek(), name);
    const found = clicked.current;
    if (found === null) return;
    focus();
    void app.run(() => app.navigation.select(view, found.spot, found.side));
    if (found.twist) view.toggle(found.spot);
  };
  const doubleClick = () => {
    const found = clicked.current;
    // The arrow has opened and closed it already.
    if (found !== null && !found.twist) view.toggle(found.spot);
  };
  const { unit } = size.value;
  const { lines, frames } = drawn.value;
  const begin = lines[0]?.offset ?? 0;
  const last = lines.at(-1);
  const end = last === undefined ? 0 : last.offset + (isRow(last) ? ROW_UNITS : END_UNITS);
  const origin = originOf(begin);
  const selected = app.navigation.selected.value;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the tree handles the keyboard
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keyboard
    <div
      class="lines"
      ref={element}
      style={{ transform: `translateY(${origin * unit + scroll.shift.value}px)` }}
      onClick={click}
      onDblClick={doubleClick}
    >
      {look.value.sides.map((side) => (
        <BoxFrames key={side} {...{ frames, side, origin, unit, begin, end }} look={look.value} />
      ))}
      {lines.filter(isRow).map((line) => {
        const id = rowId(name, line);
        return (
          <GraphLine
            key={id}
            {...{ id, line }}
            top={(line.offset - origin) * unit}
            selected={isSelected(line, selected)}
            look={look.value}
          />
        );
      })}
    </div>
  );
}

interface Found {
  spot: Spot;
  side: Side;
  /** The arrow of the row. */
  twist: boolean;
}

/** The row that an event is about. */
function rowOf(event: Event, drawn: Window, name: string): Found | null {
  const target = event.target as HTMLElement;
  const half = target.closest(".half");
  const id = half?.parentElement?.id;
  const line = drawn.lines.find((one) => isRow(one) && rowId(name, one) === id);
  if (line === undefined) return null;
  return {
    spot: { parent: line.parent, at: line.at },
    side: half?.classList.contains("g") === true ? "g" : "t",
    twist: target.closest(".twist") !== null,
  };
}

function isSelected({ row }: RowLine, selected: Selected | null): boolean {
  if (selected === null || row === undefined) return false;
  return (row.t !== null && row.t.id === selected.t) || (row.g !== null && row.g.id === selected.g);
}

/** Whether a tree of both sides shows one of them, for want of room. */
export function isNarrow(app: App, view: GraphView): boolean {
  return app.workspace.narrow.value && view.sides === "both" && view.tree.root.golden >= 0;
}

function sidesOf(app: App, view: GraphView): readonly Side[] {
  if (view.sides !== "both") return ONE[view.sides];
  if (isNarrow(app, view)) return ONE[app.workspace.oneSide.value];
  return view.tree.root.golden >= 0 ? BOTH : ONE.t;
}

/** Pixels of each half. */
function halfWidths(
  sides: readonly Side[],
  narrow: boolean,
  { width, gutter }: Size,
): Record<Side, number> {
  const alone = narrow ? width - gutter : width;
  if (sides.length === 1) return { t: alone, g: alone };
  const t = (width - gutter) * split.value;
  return { t, g: width - gutter - t };
}

/** What all lines have in common: the same object as long as nothing of it changes. */
function useLook(app: App, view: GraphView, drawn: { value: Window }, size: { value: Size }) {
  const last = useRef<Look | null>(null);
  return useComputed(() => {
    const narrow = isNarrow(app, view);
    const { value: nameFirst } = app.workspace.narrow;
    const sides = sidesOf(app, view);
    const { rem } = size.value;
    const deepest = drawn.value.lines.reduce((most, line) => Math.max(most, line.depth), 0);
    const made = new Look(
      ...([sides, halfWidths(sides, narrow, size.value), levelWidths(rem), rem] as const),
      levelsLeftOut(deepest, nameFirst),
      app.workspace.bands.value,
      app.workspace.coloring.value,
      language.value,
      narrow,
      nameFirst,
    );
    if (last.current?.same(made) !== true) last.current = made;
    return last.current as Look;
  });
}
