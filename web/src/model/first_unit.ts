/** Which step and rank the whole run diverges in first. */

import type { Unit } from "../api/types";

function differs(unit: Unit): boolean {
  return unit.culprits + unit.undecided > 0;
}

/**
 * As `msprobe compare` has it: the earliest step with a difference; of its ranks those with a culprit
 * come before those of which it cannot be told. Which of these ranks is the first only the clock of
 * the collectives tells: here they are in the order of the file. Empty where nothing (that is known
 * yet) differs.
 */
export function firstDivergent(units: readonly Unit[]): number[] {
  const first = units.find(differs);
  if (first === undefined) return [];
  const blamed = (unit: Unit) => unit.step === first.step && unit.culprits > 0;
  const counts = units.some(blamed)
    ? blamed
    : (unit: Unit) => unit.step === first.step && differs(unit);
  return [...units.keys()].filter((u) => counts(units[u] as Unit));
}
