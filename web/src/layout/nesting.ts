/** Boxes in boxes: how far a row is set in, and how much room is left for what it tells. */

/** Width that a level takes at the left and at the right, in whole pixels: edges stay sharp. */
export interface LevelWidths {
  left: number;
  right: number;
}

export function levelWidths(rem: number): LevelWidths {
  return { left: Math.round(rem * 0.8), right: Math.max(2, Math.round(rem * 0.3)) };
}

/** More levels than this do not fit beside each other: the outer ones are left out. */
export const MAX_LEVELS = 14;

/** In a narrow window the names of the inner ones need the room. */
const NARROW_LEVELS = 3;

/** They are left out by so many at once, so that few steps of scrolling move all rows aside. */
const LEVELS_AT_ONCE = 7;

/** How many outer levels a window leaves out, given its deepest line. */
export function levelsLeftOut(deepest: number, narrow = false): number {
  const most = narrow ? NARROW_LEVELS : MAX_LEVELS;
  const atOnce = narrow ? 2 : LEVELS_AT_ONCE;
  return Math.ceil(Math.max(0, deepest - most) / atOnce) * atOnce;
}

/** What a box has room for, from everything to its name alone. */
export type Room = 5 | 4 | 3 | 2 | 1 | 0;

const ROOMS = [16, 20, 28, 36, 42];

/** The room in a box of so many pixels. */
export function roomOf(width: number, rem: number): Room {
  return ROOMS.filter((least) => width > least * rem).length as Room;
}

/** How wide a letter is at most on average, in units of the text size. */
export type Face = "bold" | "plain" | "mono";
const LETTERS: Record<Face, number> = { bold: 0.78, plain: 0.7, mono: 0.63 };

/** Rather too wide than too narrow: what fits by this is never cut. */
export function textWidth(text: string, face: Face): number {
  let width = 0;
  for (let i = 0; i < text.length; i += 1)
    width += text.charCodeAt(i) < 0x250 ? LETTERS[face] : 1.3;
  return width;
}
