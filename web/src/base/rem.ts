/** Pixels of the text size, which all sizes of the page are counted in. */
export function remPixels(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}
