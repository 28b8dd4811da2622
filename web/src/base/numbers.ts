/** Recorded numbers as people read them; the full text stays available beside them. */

const MINUS = "\u2212";

/** At most six significant digits, a real minus sign, powers of ten when short is not readable. */
export function readableNumber(text: string): string {
  const trimmed = text.trim();
  if (trimmed.endsWith("%")) return readablePercent(trimmed);
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return text;
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return text;
  if (value === 0) return trimmed.startsWith("-") ? `${MINUS}0` : "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9 && !/e/i.test(trimmed)) {
    return size < 1e5 ? sign(String(value)) : sign(groupDigits(value));
  }
  const precise = Number(value.toPrecision(6));
  if (size >= 1e-4 && size < 1e7) return sign(String(precise));
  const [digits = "", power = ""] = precise.toExponential().split("e");
  return sign(`${digits}e${power.replace("+", "")}`);
}

/** "98.000000%" says no more than "98%". */
function readablePercent(text: string): string {
  const value = Number(text.slice(0, -1));
  if (text.length === 1 || !Number.isFinite(value)) return text;
  return `${readableNumber(String(Number(value.toPrecision(4))))}%`;
}

function sign(text: string): string {
  return text.replaceAll("-", MINUS);
}

/** 1234567 as 1 234 567, with narrow spaces that do not break. */
export function groupDigits(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

export function readableIndex(index: number): string {
  return index.toFixed(2);
}

export function readableBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
