import { readableNumber } from "../base/numbers";

/** A recorded number, short; hover shows all of it, and a click copies it (`data-copy`). */
export function NumberText({ value }: { value: string | number | undefined }) {
  if (value === undefined) return null;
  const full = String(value);
  return (
    <span class="number" title={full} data-copy={full}>
      {readableNumber(full)}
    </span>
  );
}
