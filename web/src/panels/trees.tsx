/** The trees of both sides, what they are of, and the strips beside them. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Side } from "../api/types";
import { groupDigits } from "../base/numbers";
import { remPixels } from "../base/rem";
import { GraphTree } from "../render/graph_tree";
import { OverviewStrip } from "../render/overview_strip";
import { RankStrips, rankStripsWidth } from "../render/rank_strips";
import type { App } from "../state/app";
import { text } from "../state/language";
import { split, textSize } from "../state/preferences";
import { NameText } from "../widgets/name_text";
import { Splitter } from "../widgets/splitter";

/** Below this, in units of the text size, two names do not fit beside each other. */
const BOTH_FIT_REM = 44;
/** The overview with the space around it. */
const OVERVIEW_REM = 2.1;

export function Trees({ app }: { app: App }) {
  const area = useRef<HTMLDivElement>(null);
  const { workspace } = app;
  const views = workspace.views.value;
  const comparison = workspace.comparison.value;
  const strips = useSignal(true);
  const measure = () => {
    const width = (area.current?.clientWidth ?? 0) / remPixels() - OVERVIEW_REM;
    // The strips of the ranks go first: the map of ranks tells the same.
    strips.value = width - rankStripsWidth(app) >= BOTH_FIT_REM;
    workspace.narrow.value = comparison && width > 0 && width < BOTH_FIT_REM;
  };
  const measuring = useRef(measure);
  measuring.current = measure;
  useEffect(() => {
    if (area.current === null) return;
    const observer = new ResizeObserver(() => measuring.current());
    observer.observe(area.current);
    return () => observer.disconnect();
  }, []);
  useSignalEffect(() => {
    textSize.value;
    workspace.comparison.value;
    workspace.unit.value;
    measuring.current();
  });
  const kind = views.length > 1 ? "apart" : comparison ? "together" : "single";
  const narrow = workspace.narrow.value ? " narrow" : "";
  return (
    <div class={`trees ${kind}${narrow}`} ref={area} style={{ "--split": split.value }}>
      <div class="tree-heads">
        <Head app={app} side="t" />
        {comparison && (
          <>
            <Splitter
              label={text("splitter.sides")}
              upright
              size={split}
              min={0.1}
              max={0.9}
              step={0.02}
              perPixel={() => 1 / Math.max(1, area.current?.clientWidth ?? 1)}
            />
            <Head app={app} side="g" />
          </>
        )}
      </div>
      <div class="tree-area">
        {views.map((view) => (
          <GraphTree key={view.key} app={app} view={view} name={`row-${view.sides}`} />
        ))}
      </div>
      {comparison && (
        <div class="strips">
          {strips.value && <RankStrips app={app} />}
          <OverviewStrip app={app} />
        </div>
      )}
    </div>
  );
}

/** Which dump a side is of; where there is room for one side only, a click shows it. */
function Head({ app, side }: { app: App; side: Side }) {
  const { workspace } = app;
  const at = side === "t" ? 0 : 1;
  const unit = workspace.unit.value;
  const name = text(workspace.comparison.value ? `side.${side}` : "side.single");
  const count = groupDigits(unit?.nodes[at] ?? 0);
  const from = unit?.from?.[at] ?? "";
  if (workspace.narrow.value) {
    return (
      <button
        type="button"
        class="head"
        aria-pressed={workspace.oneSide.value === side}
        title={from || undefined}
        onClick={() => {
          workspace.oneSide.value = side;
        }}
      >
        <b>{name}</b> <span>{count}</span>
      </button>
    );
  }
  return (
    <h2 class="head">
      <b>{name}</b>{" "}
      {from !== "" && (
        <span class="from">
          <NameText className="" name={from} />
        </span>
      )}{" "}
      <span>{text("tree.nodes", { count })}</span>
    </h2>
  );
}
