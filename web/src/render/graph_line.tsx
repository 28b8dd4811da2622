/** A row of the tree: both halves and the index between them. */

import { Component } from "preact";
import type { Brief, Row, Side } from "../api/types";
import { readableIndex } from "../base/numbers";
import type { RowLine } from "../layout/window";
import { indexPaint } from "../model/paint";
import { text } from "../state/language";
import { shortened } from "../widgets/name_text";
import { graphCell } from "./graph_cell";
import type { Look } from "./look";

interface Props {
  id: string;
  line: RowLine;
  /** Pixels between the row before it and this one: where boxes end. */
  space: number;
  selected: boolean;
  look: Look;
}

/** Drawn anew only when something of it has changed: most rows stay when one is opened. */
export class GraphLine extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    const now = this.props;
    return (
      next.line.row !== now.line.row ||
      next.line.open !== now.line.open ||
      next.space !== now.space ||
      next.selected !== now.selected ||
      next.look !== now.look ||
      next.id !== now.id
    );
  }

  override render({ id, line, space, selected, look }: Props) {
    const { row } = line;
    const leaf = row === undefined || row.n === 0;
    const { left, right } = look.inset(line.depth);
    const paddingInline = `${left}px ${right}px`;
    return (
      <div
        class={selected ? "line row selected" : "line row"}
        style={space > 0 ? { marginTop: `${space}px` } : undefined}
        id={id}
        role="treeitem"
        tabIndex={-1}
        aria-level={line.depth + 1}
        aria-setsize={line.parent.count}
        aria-posinset={line.at + 1}
        aria-selected={selected}
        aria-expanded={leaf ? undefined : line.open}
        aria-label={row === undefined ? text("row.loading") : spoken(row)}
      >
        {look.sides.map((side, i) => (
          <>
            {i === 1 && gutter(row, look)}
            <div class={`half ${side}`} key={side} style={{ paddingInline }}>
              {half(line, side, look)}
            </div>
          </>
        ))}
      </div>
    );
  }
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

// Plain functions: hundreds of components would cost more than what they draw.

function half(line: RowLine, side: Side, look: Look) {
  const { row, open, depth } = line;
  if (row === undefined) return <div class="box waiting" />;
  const brief: Brief | null = row[side];
  if (brief === null)
    return <div class="gap" title={text(side === "g" ? "row.only_target" : "row.only_golden")} />;
  const { coloring, bands } = look;
  return graphCell({ brief, rows: row.n, open, coloring, bands, room: look.room(depth, side) });
}

function gutter(row: Row | undefined, look: Look) {
  if (row === undefined) return <div class="gutter" />;
  if (row.t === null || row.g === null) {
    return <div class="gutter none">{text("row.no_partner")}</div>;
  }
  if (row.index === null) return <div class="gutter" />;
  const paint = indexPaint(look.bands, row.index);
  return (
    <div
      class="gutter measured"
      title={String(row.index)}
      style={{ "--fill": `var(--fill-${paint})`, "--edge": `var(--edge-${paint})` }}
    >
      {readableIndex(row.index)}
    </div>
  );
}
