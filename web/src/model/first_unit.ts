/** Which step and rank the whole run diverges in first. */

import type { Unit } from "../api/types";

function differs(unit: Unit): boolean {
  return unit.culprits + unit.undecided > 0;
}

/**
 * As `msprobe compare` has it: the earliest step with a difference; of its ranks one with a culprit
 * comes before those of which it cannot be told. Null where nothing (that is known yet) differs.
 */
export function firstDivergent(units: readonly Unit[]): number | null {
  const first = units.find(differs);
  if (first === undefined) return null;
  const culprit = units.find((unit) => unit.step === first.step && unit.culprits > 0);
  return units.indexOf(culprit ?? first);
}
