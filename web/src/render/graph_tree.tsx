/** A scrolling tree of which only the lines in sight exist. */

import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ROW_UNITS } from "../model/row_tree";
import type { App } from "../state/app";
import { type GraphView, isRow, sameSpot } from "../state/graph_view";
import { text } from "../state/language";
import { ContextBar } from "./context_bar";
import { isNarrow, rowId, TreeLines } from "./tree_lines";
import { type TreeScroll, useTreeScroll } from "./tree_scroll";

interface Props {
  app: App;
  view: GraphView;
  name: string;
}

export function GraphTree({ app, view, name }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const lines = useRef<HTMLDivElement>(null);
  const scroll = useTreeScroll(view, { scroller, probe, lines });
  // Who goes to the other side goes on by keys there.
  useSignalEffect(() => {
    const left = document.activeElement;
    if (app.navigation.active.value !== view || left === scroller.current) return;
    if (left?.role === "tree") scroller.current?.focus({ preventScroll: true });
  });
  const { narrow, oneSide } = app.workspace;
  const names = ["tree-frame"];
  if (isNarrow(app, view)) names.push("one-side");
  if (narrow.value && view.sides !== "both" && view.sides !== oneSide.value) names.push("away");
  return (
    <div class={names.join(" ")} style={{ "--unit": `${scroll.size.value.unit}px` }}>
      <div class="probe" ref={probe} />
      <Around {...{ app, view, scroll }} />
      <div
        class="tree"
        ref={scroller}
        role="tree"
        tabIndex={0}
        aria-label={text(`tree.${view.sides}`)}
        aria-activedescendant={activeId(view, name)}
        onScroll={scroll.onScroll}
        onFocus={() => {
          app.navigation.active.value = view;
        }}
      >
        <div class="spacer" style={{ height: `${scroll.height.value}px` }}>
          <TreeLines
            {...{ app, view, name, scroll }}
            element={lines}
            focus={() => scroller.current?.focus({ preventScroll: true })}
          />
        </div>
      </div>
    </div>
  );
}

/** Alone it is drawn anew while one scrolls. */
function Around({ app, view, scroll }: { app: App; view: GraphView; scroll: TreeScroll }) {
  const top = scroll.top.value;
  const unit = Math.floor(top / scroll.size.value.unit) + (top === 0 ? 0 : ROW_UNITS);
  return <ContextBar app={app} view={view} unit={unit} />;
}

/** The row that the keyboard is on, if it is drawn. */
function activeId(view: GraphView, name: string): string | undefined {
  const cursor = view.cursor.value;
  const line = view.shown.value.find((one) => isRow(one) && sameSpot(one, cursor));
  return line === undefined ? undefined : rowId(name, line);
}
