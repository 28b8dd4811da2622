/** One half of a row: a node as a box. */

import type { Band, Brief } from "../api/types";
import type { Room } from "../layout/nesting";
import { type Coloring, hiddenPaint, indexPaint, paintOf } from "../model/paint";
import { text } from "../state/language";
import { NameText } from "../widgets/name_text";

interface Props {
  brief: Brief;
  /** Rows below: a leaf has no arrow. */
  rows: number;
  open: boolean;
  coloring: Coloring;
  bands: readonly Band[];
  room: Room;
}

const KIND_SIGNS = { module: "", api: "ƒ", collection: "⋮", root: "" } as const;

export function graphCell({ brief, rows, open, coloring, bands, room }: Props) {
  const paint = paintOf(coloring, bands, brief);
  const hidden = open || rows === 0 ? null : hiddenPaint(bands, brief);
  // A closed red row still says how many red ones are in it.
  const badge = hidden ?? (open || brief.inside === 0 ? null : indexPaint(bands, brief.worst));
  // Beside "diverges here" there may be no room for it.
  const floods =
    brief.overflow !== "" && coloring !== "overflow" && (brief.role !== "culprit" || room > 2);
  const told = badge !== null || brief.role === "culprit";
  const style: Record<string, string> = {
    "--fill": `var(--fill-${paint})`,
    "--edge": `var(--edge-${paint})`,
  };
  if (hidden !== null) style["--corner"] = `var(--mark-${hidden})`;
  const names = ["box", brief.kind, open ? "open" : "closed"];
  if (paint === "unmatched") names.push("unmatched");
  if (hidden !== null) names.push("hides");
  if (told) names.push("told");
  if (room === 0) names.push("narrow");
  return (
    <div class={names.join(" ")} style={style}>
      {rows > 0 ? (
        // The keyboard opens rows by the arrow keys, so the arrow is for the pointer alone.
        <button type="button" class="twist" tabIndex={-1} aria-hidden="true" />
      ) : (
        <span class="sign">{KIND_SIGNS[brief.kind]}</span>
      )}
      {NameText({ className: "label", name: brief.label, full: brief.name })}
      {/* In a small window the name goes before all else: colour and corner still tell. */}
      {room > 0 && (
        <>
          {brief.cls !== "" && NameText({ className: "cls", name: brief.cls })}
          {brief.dir === "b" && <span class="dir">{text("row.backward")}</span>}
          {brief.role === "culprit" && <span class="culprit">{text("role.culprit")}</span>}
          {floods && brief.overflow !== "" && (
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
          {brief.shape !== "" && room >= roomForShape(brief, told, floods) && (
            <span class="shape">{brief.shape}</span>
          )}
        </>
      )}
    </div>
  );
}

/** Rather no shape than a part of it. */
function roomForShape(brief: Brief, told: boolean, floods: boolean): Room {
  if (brief.role === "culprit" && floods) return 5;
  if (told) return 4;
  return floods ? 3 : 2;
}
