/** What a person likes, kept by the browser: theme, language, sizes. */

import { computed, effect, type Signal, signal } from "@preact/signals";

export type ThemeChoice = "auto" | "light" | "dark";
export type Language = "en" | "zh";

export const TEXT_SIZES = [85, 100, 115, 130, 150, 175, 200] as const;

function stored<T>(name: string, fallback: T, accept: (value: unknown) => value is T): Signal<T> {
  let value = fallback;
  try {
    const found: unknown = JSON.parse(localStorage.getItem(`msprobe.${name}`) ?? "null");
    if (accept(found)) value = found;
  } catch {
    // No storage (a report opened from disk) or something of another program in it.
  }
  const result = signal(value);
  effect(() => {
    const text = JSON.stringify(result.value);
    try {
      localStorage.setItem(`msprobe.${name}`, text);
    } catch {
      // The choice then lasts as long as the page.
    }
  });
  return result;
}

const oneOf =
  <T>(...words: T[]) =>
  (value: unknown): value is T =>
    words.includes(value as T);
const between =
  (low: number, high: number) =>
  (value: unknown): value is number =>
    typeof value === "number" && value >= low && value <= high;

const browserLanguage: Language = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";

export const themeChoice = stored<ThemeChoice>("theme", "auto", oneOf("auto", "light", "dark"));
const systemDark = signal(false);
// Tests of single parts have no window.
if (typeof matchMedia === "function") {
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  systemDark.value = prefersDark.matches;
  prefersDark.addEventListener("change", (event) => {
    systemDark.value = event.matches;
  });
}
/** Whether the page is dark, by choice or as the system is. */
export const dark = computed(
  () => themeChoice.value === "dark" || (themeChoice.value === "auto" && systemDark.value),
);
export const language = stored<Language>("language", browserLanguage, oneOf("en", "zh"));
export const textSize = stored<number>("textSize", 100, between(50, 400));
/** Widths and heights in units of the text size, so that they grow with it. */
export const sideWidth = stored<number>("sideWidth", 24, between(12, 60));
export const detailHeight = stored<number>("detailHeight", 18, between(4, 80));
/** Share of the target's half. */
export const split = stored<number>("split", 0.5, between(0.1, 0.9));
export const sideOpen = stored<boolean>("sideOpen", true, oneOf(true, false));
