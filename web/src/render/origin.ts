/** From where the places of lines are counted. */

/** Elements end at some thirty million pixels: places are counted from one of these steps. */
export const ORIGIN_UNITS = 4096;

/** From where lines are placed: it moves so seldom that a row drawn once stays where it is. */
export function originOf(first: number): number {
  return Math.max(0, Math.floor(first / ORIGIN_UNITS) - 1) * ORIGIN_UNITS;
}
