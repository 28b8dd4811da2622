/** A row of the tree: both halves and the index between them. */

import { Component, createRef } from "preact";
import type { Brief, Row, Side } from "../api/types";
import { readableIndex } from "../base/numbers";
import type { RowLine } from "../layout/window";
import { type Coloring, indexPaint } from "../model/paint";
import { text } from "../state/language";
import { NameText, shortened } from "../widgets/name_text";
import { cellParts, graphCell, partsKey } from "./graph_cell";
import type { Look } from "./look";

interface Props {
  id: string;
  line: RowLine;
  /** Where it stands, in pixels. */
  top: number;
  selected: boolean;
  look: Look;
}

/** Drawn anew only when something of it has changed: most rows only move when one is opened. */
export class GraphLine extends Component<Props> {
  private readonly element = createRef<HTMLDivElement>();
  /** What both halves had room for when they were drawn. */
  private content = "";

  override shouldComponentUpdate(next: Props): boolean {
    const now = this.props;
    const changed =
      next.line.row !== now.line.row ||
      next.line.open !== now.line.open ||
      next.selected !== now.selected ||
      next.id !== now.id ||
      (next.look !== now.look &&
        !(next.look.sameButLevels(now.look) && contentOf(next) === this.content));
    if (!changed) this.place(next);
    return changed;
  }

  override componentDidMount(): void {
    this.place(this.props);
  }

  override componentDidUpdate(): void {
    this.place(this.props);
  }

  /** Where it stands, and how far its halves are set in: so a row moves without being drawn anew. */
  private place({ top, line, look }: Props): void {
    const { current } = this.element;
    if (current === null) return;
    current.style.top = `${top}px`;
    const { left, right } = look.inset(line.depth);
    for (const half of current.children) {
      if (half instanceof HTMLElement && half.classList.contains("half")) {
        half.style.paddingInline = `${left}px ${right}px`;
      }
    }
  }

  override render({ id, line, selected, look }: Props) {
    const { row } = line;
    const leaf = row === undefined || row.n === 0;
    this.content = contentOf(this.props);
    return (
      <div
        ref={this.element}
        class={selected ? "line row selected" : "line row"}
        id={id}
        role="treeitem"
        tabIndex={-1}
        aria-level={line.depth + 1}
        aria-setsize={line.parent.count}
        aria-posinset={line.at + 1}
        aria-selected={selected}
        aria-expanded={leaf ? undefined : line.open}
        aria-label={row === undefined ? text("row.loading") : spoken(row, look.coloring)}
      >
        {look.sides.map((side, i) => (
          <>
            {i === 1 && gutter(row, look)}
            <div class={`half ${side}`} key={side}>
              {half(line, side, look)}
            </div>
          </>
        ))}
        {look.narrow && gutter(row, look)}
      </div>
    );
  }
}

/** What a screen reader says of a row. */
function spoken(row: Row, coloring: Coloring): string {
  const brief = row.t ?? row.g;
  if (brief === null) return "";
  const parts = [shortened(brief.label, 100), brief.cls];
  if (brief.dir === "b") parts.push(text("row.backward_long"));
  if (brief.status === "unmatched") {
    parts.push(text(row.t === null ? "row.only_golden" : "row.only_target"));
  } else if (brief.index !== null) {
    parts.push(text("row.spoken_index", { index: readableIndex(brief.index) }));
  }
  if (brief.role !== "") parts.push(text(`role.${brief.role}`));
  if (brief.overflow !== "") parts.push(text(`overflow.${brief.overflow}`));
  const { inside, status_inside: status, overflow_inside: overflow } = brief;
  if (coloring === "status" && status !== "") {
    const count = text("row.inside", { count: brief.status_count });
    parts.push(`${count}: ${text(`status.${status}`)}`);
  } else if (coloring !== "status" && inside > 0) {
    parts.push(text("row.inside", { count: inside }));
  }
  if (overflow !== "") parts.push(text("row.overflow_inside", { count: brief.overflow_count }));
  return parts.filter(Boolean).join(", ");
}

// Plain functions: hundreds of components would cost more than what they draw.

function half(line: RowLine, side: Side, look: Look) {
  const { row } = line;
  if (row === undefined) return <div class="box waiting" />;
  const brief: Brief | null = row[side];
  if (brief === null) {
    const only = side === "g" ? "row.only_target" : "row.only_golden";
    const missing = text(hasPartner(row) ? "row.elsewhere_long" : only);
    const other = look.narrow ? row[side === "t" ? "g" : "t"] : null;
    return (
      <div class="gap" title={missing}>
        {other !== null && (
          <NameText className="label" name={other.label} full={other.name} keepsEnd />
        )}
      </div>
    );
  }
  return graphCell(cellOf(brief, row, line, side, look));
}

function cellOf(brief: Brief, row: Row, { open, depth }: RowLine, side: Side, look: Look) {
  const { coloring, bands, nameFirst } = look;
  const width = look.boxWidth(depth, side);
  return { brief, rows: row.n, open, coloring, bands, width, nameFirst };
}

/** Which parts both halves have room for: as long as these stay, only their insets can change. */
function contentOf({ line, look }: Props): string {
  const { row } = line;
  if (row === undefined) return "";
  const parts = look.sides.map((side) => {
    const brief = row[side];
    return brief === null ? "" : partsKey(cellParts(cellOf(brief, row, line, side, look)));
  });
  return parts.join("/");
}

/** Whether the node of a row without another one is paired with one that is not among its siblings. */
function hasPartner({ t, g }: Row): boolean {
  return ((t ?? g)?.partner ?? null) !== null;
}

function gutter(row: Row | undefined, look: Look) {
  if (row === undefined) return <div class="gutter" />;
  if (row.t === null || row.g === null) {
    const [said, title] = hasPartner(row)
      ? ([text("row.elsewhere"), text("row.elsewhere_long")] as const)
      : ([text("row.no_partner"), text("row.no_partner")] as const);
    return (
      <div class="gutter none" title={title}>
        {look.narrow ? "–" : said}
      </div>
    );
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
