/** One half of a row: a node as a box. */

import type { Band, Brief } from "../api/types";
import { type Room, roomOf, textWidth } from "../layout/nesting";
import { type Coloring, type Inside, insideOf, type Paint, paintOf } from "../model/paint";
import { text } from "../state/language";
import { NameText } from "../widgets/name_text";

interface Props {
  brief: Brief;
  /** Rows below: a leaf has no arrow. */
  rows: number;
  open: boolean;
  coloring: Coloring;
  bands: readonly Band[];
  /** Of the box, in units of the text size. */
  width: number;
  /** In a small window the name goes before all else: colour and corner still tell. */
  nameFirst: boolean;
}

const KIND_SIGNS = { module: "", api: "ƒ", collection: "⋮", root: "" } as const;

/** A pill beside the name. */
interface Sign {
  className: string;
  word: string;
  title?: string;
  paint?: Paint;
}

/** What a cell of a width shows of its node. */
interface CellParts {
  names: string[];
  style: Record<string, string>;
  cls: string;
  signs: Sign[];
  shape: string;
}

export function cellParts(props: Props): CellParts {
  const { brief, rows, open, coloring, bands, width, nameFirst } = props;
  const room = roomOf(width, 1);
  const paint = paintOf(coloring, bands, brief);
  const inside = open || rows === 0 ? null : insideOf(coloring, bands, brief);
  const hidden = inside?.hidden === true ? inside.paint : null;
  // Beside "diverges here" there may be no room for it.
  const floods =
    brief.overflow !== "" && coloring !== "overflow" && (brief.role !== "culprit" || room > 2);
  const told = inside !== null || brief.role === "culprit";
  const cls = room > 0 && !nameFirst ? brief.cls : "";
  const signs =
    room > 0 ? signsOf(brief, room, floods, inside, coloring) : leastSigns(brief, width);
  while (nameFirst && signs.length > 0 && neededWidth(brief, "", signs, "") > width) signs.pop();
  const shape =
    room > 0 && !nameFirst && room >= roomForShape(brief, told, floods) ? brief.shape : "";
  const style: Record<string, string> = {
    "--fill": `var(--fill-${paint})`,
    "--edge": `var(--edge-${paint})`,
  };
  if (hidden !== null) style["--corner"] = `var(--mark-${hidden})`;
  const names = ["box", brief.kind, open ? "open" : "closed"];
  if (paint === "unmatched") names.push("unmatched");
  if (hidden !== null) names.push("hides");
  // Each part that may be cut costs the browser time in every frame: say which may not.
  if (neededWidth(brief, cls, signs, shape) <= width) names.push("fits");
  return { names, style, cls, signs, shape };
}

/** The same for widths in which the same is shown. */
export function partsKey({ names, cls, signs, shape }: CellParts): string {
  return `${names.join(" ")} ${cls !== ""} ${signs.map((sign) => sign.className)} ${shape !== ""}`;
}

export function graphCell(props: Props) {
  const { brief, rows } = props;
  const { names, style, cls, signs, shape } = cellParts(props);
  return (
    <div class={names.join(" ")} style={style}>
      {rows > 0 ? (
        // The keyboard opens rows by the arrow keys, so the arrow is for the pointer alone.
        <button type="button" class="twist" tabIndex={-1} aria-hidden="true" />
      ) : (
        <span class="sign">{KIND_SIGNS[brief.kind]}</span>
      )}
      {NameText({ className: "label", name: brief.label, full: brief.name, keepsEnd: true })}
      {cls !== "" && NameText({ className: "cls", name: cls })}
      {signs.map((sign) => (
        <span
          key={sign.className}
          class={sign.className}
          title={sign.title}
          style={
            sign.paint && {
              "--fill": `var(--fill-${sign.paint})`,
              "--edge": `var(--edge-${sign.paint})`,
            }
          }
        >
          {sign.word}
        </span>
      ))}
      {shape !== "" && <span class="shape">{shape}</span>}
    </div>
  );
}

function insideWord(coloring: Coloring, { count }: Inside): string {
  if (count === 0) return text("row.worse");
  return text(coloring === "overflow" ? "row.overflow_inside" : "row.inside", { count });
}

/** Where there is hardly room for the name: what one looks for is still marked. */
function leastSigns({ role }: Brief, width: number): Sign[] {
  if (role !== "culprit") return [];
  const word = width > SHORT_SIGN ? text("role.culprit_short") : "!";
  return [{ className: "culprit", word, title: text("role.culprit") }];
}

/** Those that tell most come first. */
function signsOf(
  brief: Brief,
  room: Room,
  floods: boolean,
  inside: Inside | null,
  coloring: Coloring,
): Sign[] {
  const signs: Sign[] = [];
  if (brief.role === "culprit") {
    const word = text(room > 1 ? "role.culprit" : "role.culprit_short");
    signs.push({ className: "culprit", word });
  }
  if (brief.dir === "b") signs.push({ className: "dir", word: text("row.backward") });
  if (floods && brief.overflow !== "") {
    const title = text(`overflow.${brief.overflow}`);
    signs.push({ className: "overflow", word: text("row.overflow"), title });
  }
  if (inside !== null) {
    const word = insideWord(coloring, inside);
    signs.push({ className: "inside", word, paint: inside.paint });
  }
  return signs;
}

/** Sizes of the style sheet, in units of the text size: padding with the arrow, a gap, a pill. */
const BOX = 2.4;
const GAP = 0.5;
const PILL = 1.2;
/** A box wider than this has room for one short word beside its name. */
const SHORT_SIGN = 12;

function neededWidth(brief: Brief, cls: string, signs: readonly Sign[], shape: string): number {
  let width = BOX + GAP + textWidth(brief.label, brief.kind === "api" ? "mono" : "bold");
  if (cls !== "") width += GAP + 0.92 * textWidth(cls, "plain");
  for (const { word } of signs) width += GAP + PILL + 0.85 * textWidth(word, "bold");
  if (shape !== "") width += GAP + 0.88 * textWidth(shape, "mono");
  return width;
}

/** Rather no shape than a part of it. */
function roomForShape(brief: Brief, told: boolean, floods: boolean): Room {
  const signs = 2 * Number(told) + 2 * Number(brief.dir === "b") + Number(floods);
  return Math.min(5, 2 + signs) as Room;
}
