/** A line of the tree: a row with both halves and the index between them, or the end of a box. */

import type { Brief, Row, Side } from "../api/types";
import { readableIndex } from "../base/numbers";
import { levelWidth } from "../layout/rails";
import type { Line, RowLine } from "../layout/window";
import { indexPaint, paintOf } from "../model/paint";
import type { GraphView } from "../state/graph_view";
import { text } from "../state/language";
import { shortened } from "../widgets/name_text";
import { GraphCell } from "./graph_cell";
import type { LineContext } from "./line_context";

interface Props {
  line: Line;
  view: GraphView;
  context: LineContext;
}

export function GraphLine({ line, view, context }: Props) {
  return line.kind === "end" ? (
    <EndOfBox line={line} view={view} context={context} />
  ) : (
    <GraphRow line={line} view={view} context={context} />
  );
}

function halves(view: GraphView): Side[] {
  return view.sides === "both" && view.tree.root.golden >= 0
    ? ["t", "g"]
    : [view.sides === "g" ? "g" : "t"];
}

function insets(line: Line, context: LineContext, side: Side) {
  const level = Math.max(0, line.depth - context.leftOut);
  const { left, right } = context.rails(line.parent, side);
  return {
    "--left": levelWidth(level, "left"),
    "--right": levelWidth(level, "right"),
    "--left-rails": left,
    "--right-rails": right,
  };
}

function EndOfBox({ line, view, context }: Props) {
  const { bands, coloring } = context;
  return (
    <div class="line end" role="presentation">
      {halves(view).map((side, i) => {
        const brief = line.row?.[side];
        const paint = brief ? paintOf(coloring, bands, brief) : null;
        return (
          <>
            {i === 1 && <div class="gutter" />}
            <div class="half" key={side} style={insets(line, context, side)}>
              {paint !== null && (
                <div
                  class="bottom"
                  style={{ "--frame": `var(--frame-${paint})`, "--edge": `var(--edge-${paint})` }}
                />
              )}
            </div>
          </>
        );
      })}
    </div>
  );
}

/** What a screen reader says of a row. */
function spoken(row: Row): string {
  const brief = row.t ?? row.g;
  if (brief === null) return "";
  const parts = [shortened(brief.label, 100), brief.cls];
  if (brief.dir === "b") parts.push(text("row.backward_long"));
  if (brief.status === "unmatched") {
    parts.push(text(row.t === null ? "row.only_golden" : "row.only_target"));
  } else if (row.index !== null) {
    parts.push(text("row.spoken_index", { index: readableIndex(row.index) }));
  }
  if (brief.role !== "") parts.push(text(`role.${brief.role}`));
  if (brief.overflow !== "") parts.push(text(`overflow.${brief.overflow}`));
  if (brief.inside > 0) parts.push(text("row.inside", { count: brief.inside }));
  return parts.filter(Boolean).join(", ");
}

function GraphRow({
  line,
  view,
  context,
}: {
  line: RowLine;
  view: GraphView;
  context: LineContext;
}) {
  const { row } = line;
  const selected = row !== undefined && context.isSelected(row);
  const leaf = row === undefined || row.n === 0;
  const spot = { parent: line.parent, at: line.at };
  const sides = halves(view);
  return (
    <div
      class={selected ? "line row selected" : "line row"}
      id={context.idOf(line)}
      role="treeitem"
      tabIndex={-1}
      aria-level={line.depth + 1}
      aria-setsize={line.parent.count}
      aria-posinset={line.at + 1}
      aria-selected={selected}
      aria-expanded={leaf ? undefined : line.open}
      aria-label={row === undefined ? text("row.loading") : spoken(row)}
    >
      {sides.map((side, i) => (
        <>
          {i === 1 && <Gutter row={row} context={context} />}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: the tree handles the keyboard */}
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keyboard */}
          <div
            class={`half ${side}`}
            key={side}
            style={insets(line, context, side)}
            onClick={() => context.select(spot, side)}
            onDblClick={() => view.toggle(spot)}
          >
            <Half row={row} side={side} line={line} view={view} context={context} />
          </div>
        </>
      ))}
    </div>
  );
}

interface HalfProps extends Props {
  row: Row | undefined;
  side: Side;
  line: RowLine;
}

function Half({ row, side, line, view, context }: HalfProps) {
  if (row === undefined) return <div class="box waiting" />;
  const brief: Brief | null = row[side];
  if (brief === null)
    return <div class="gap" title={text(side === "g" ? "row.only_target" : "row.only_golden")} />;
  const toggle = () => view.toggle({ parent: line.parent, at: line.at });
  const { coloring, bands } = context;
  return <GraphCell {...{ brief, rows: row.n, open: line.open, coloring, bands, toggle }} />;
}

function Gutter({ row, context }: { row: Row | undefined; context: LineContext }) {
  if (row === undefined) return <div class="gutter" />;
  if (row.t === null || row.g === null) {
    return <div class="gutter none">{text("row.no_partner")}</div>;
  }
  if (row.index === null) return <div class="gutter" />;
  const paint = indexPaint(context.bands, row.index);
  return (
    <div
      class="gutter"
      title={String(row.index)}
      style={{ "--fill": `var(--fill-${paint})`, "--edge": `var(--edge-${paint})` }}
    >
      <i />
      {readableIndex(row.index)}
      <i />
    </div>
  );
}
