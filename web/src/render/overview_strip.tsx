/** The whole length in execution order as a strip: where it is suspicious, and where one is. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { OverviewBin } from "../api/types";
import { ordersInSight } from "../layout/sight";
import { markOf, markPaints } from "../model/paint";
import type { App } from "../state/app";
import { text } from "../state/language";
import { dark } from "../state/preferences";

export function OverviewStrip({ app }: { app: App }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { workspace, suspects, navigation } = app;
  const draw = () => {
    if (canvas.current !== null) drawBins(canvas.current, suspects.overview.value, app);
  };
  useSignalEffect(() => {
    suspects.overview.value;
    workspace.bands.value;
    workspace.coloring.value;
    dark.value;
    // The colours of the theme are set by an effect too: draw after it.
    requestAnimationFrame(draw);
  });
  useEffect(() => {
    if (canvas.current === null) return;
    const observer = new ResizeObserver(draw);
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, []);
  const click = (event: MouseEvent) => {
    const bins = suspects.overview.value;
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined || bins.length === 0) return;
    const at = Math.floor(((event.clientY - box.top) / box.height) * bins.length);
    const bin = nearestMarked(bins, at, app);
    if (bin === undefined) return;
    const { id } = markOf(workspace.coloring.value, workspace.bands.value, bin);
    void app.run(() => navigation.go({ side: bin.side, id }));
  };
  return (
    <div class="overview" title={text("overview.title")}>
      <canvas ref={canvas} onClick={click} />
      <Sight app={app} />
    </div>
  );
}

/** Where the lines in sight lie in the whole. */
function Sight({ app }: { app: App }) {
  const view = app.navigation.active.value;
  const side = view?.sides === "g" ? "g" : "t";
  const nodes = app.workspace.unit.value?.nodes[side === "t" ? 0 : 1] ?? 0;
  if (view === null || nodes === 0) return null;
  view.version.value; // the height changes with it
  const seen = { ...view.sight.value, height: view.tree.height };
  const orders = ordersInSight(view.shown.value, side, seen, nodes);
  if (orders === null) return null;
  const share = (order: number) => `${(order / nodes) * 100}%`;
  const style = { top: share(orders.begin), height: share(orders.end - orders.begin) };
  return <div class="sight" style={style} />;
}

function isMarked(bin: OverviewBin, app: App): boolean {
  const bands = app.workspace.bands.value;
  const coloring = app.workspace.coloring.value;
  const { paint } = markOf(coloring, bands, bin);
  return paint === "unmatched" || markPaints(coloring, bands).includes(paint);
}

/** The marked bin closest to a click, so that thin marks can be hit. */
function nearestMarked(
  bins: readonly OverviewBin[],
  at: number,
  app: App,
): OverviewBin | undefined {
  for (let away = 0; away <= 4; away += 1) {
    for (const i of [at - away, at + away]) {
      const bin = bins[i];
      if (bin !== undefined && isMarked(bin, app)) return bin;
    }
  }
  return bins[Math.min(Math.max(0, at), bins.length - 1)];
}

/** Asking for a computed colour costs more than drawing with it. */
function memoized(question: (name: string) => string): (name: string) => string {
  const answers = new Map<string, string>();
  return (name) => {
    const answer = answers.get(name) ?? question(name);
    answers.set(name, answer);
    return answer;
  };
}

function drawBins(canvas: HTMLCanvasElement, bins: readonly OverviewBin[], app: App): void {
  const scale = window.devicePixelRatio;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const pen = canvas.getContext("2d");
  if (pen === null || bins.length === 0) return;
  const colors = getComputedStyle(canvas);
  const bands = app.workspace.bands.value;
  const coloring = app.workspace.coloring.value;
  pen.clearRect(0, 0, width, height);
  const least = Math.round(2 * scale);
  const colorOf = memoized((name) => colors.getPropertyValue(name));
  const put = (i: number, color: string, left: number) => {
    const begin = Math.floor((i / bins.length) * height);
    const end = Math.ceil(((i + 1) / bins.length) * height);
    const thick = Math.max(least, end - begin);
    pen.fillStyle = colorOf(color);
    pen.fillRect(left, Math.min(begin, height - thick), width - left, thick);
  };
  // A node without a partner can overflow too, and is not grey then.
  bins.forEach((bin, i) => {
    if (coloring !== "overflow" && bin.unmatched > 0) put(i, "--edge-unmatched", width / 2);
  });
  // The worst last, so that nothing hides it.
  const marks = bins.map((bin) => markOf(coloring, bands, bin).paint);
  for (const paint of markPaints(coloring, bands)) {
    marks.forEach((mark, i) => {
      if (mark === paint) put(i, `--mark-${paint}`, 0);
    });
  }
}
