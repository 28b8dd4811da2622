/** One half of a row: a node as a box, or the gap where a node has no partner. */

import type { Band, Brief } from "../api/types";
import { type Coloring, hiddenPaint, indexPaint, paintOf } from "../model/paint";
import { text } from "../state/language";
import { Icon } from "../widgets/icons";
import { NameText } from "../widgets/name_text";

interface Props {
  brief: Brief;
  /** Rows below: a leaf has no arrow. */
  rows: number;
  open: boolean;
  coloring: Coloring;
  bands: readonly Band[];
  toggle: () => void;
}

const KIND_SIGNS = { module: "", api: "ƒ", collection: "⋮", root: "" } as const;

export function GraphCell({ brief, rows, open, coloring, bands, toggle }: Props) {
  const paint = paintOf(coloring, bands, brief);
  const hidden = open || rows === 0 ? null : hiddenPaint(bands, brief);
  // A closed red row still says how many red ones are in it.
  const badge = hidden ?? (open || brief.inside === 0 ? null : indexPaint(bands, brief.worst));
  const style: Record<string, string> = {
    "--fill": `var(--fill-${paint})`,
    "--edge": `var(--edge-${paint})`,
  };
  if (hidden !== null) style["--corner"] = `var(--mark-${hidden})`;
  return (
    <div class={classes(brief, open, paint, hidden !== null)} style={style}>
      {rows > 0 ? (
        // The keyboard opens rows by the arrow keys, so the arrow is for the pointer alone.
        <button type="button" class="twist" tabIndex={-1} aria-hidden="true" onClick={toggle}>
          <Icon name="chevron" />
        </button>
      ) : (
        <span class="sign">{KIND_SIGNS[brief.kind]}</span>
      )}
      <NameText className="label" name={brief.label} full={brief.name} />
      {brief.cls !== "" && <NameText className="cls" name={brief.cls} />}
      {brief.dir === "b" && <span class="dir">{text("row.backward")}</span>}
      {brief.role === "culprit" && <span class="culprit">{text("role.culprit")}</span>}
      {brief.overflow !== "" && coloring !== "overflow" && (
        <span class="overflow" title={text(`overflow.${brief.overflow}`)}>
          {text("row.overflow")}
        </span>
      )}
      {badge !== null && (
        <span
          class="inside"
          style={{ "--fill": `var(--fill-${badge})`, "--edge": `var(--edge-${badge})` }}
        >
          {brief.inside > 0 ? text("row.inside", { count: brief.inside }) : text("row.worse")}
        </span>
      )}
      {brief.shape !== "" && <span class="shape">{brief.shape}</span>}
    </div>
  );
}

function classes(brief: Brief, open: boolean, paint: string, hides: boolean): string {
  const names = ["box", brief.kind, open ? "open" : "closed"];
  if (paint === "unmatched") names.push("unmatched");
  if (hides) names.push("hides");
  return names.join(" ");
}
