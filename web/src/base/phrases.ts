/** Phrases with places for values: `{count} {count|node|nodes}`, the first word for one alone. */

export type PhraseValues = Record<string, string | number>;

export function fill(phrase: string, values: PhraseValues): string {
  return phrase
    .replace(/\{(\w+)\|([^|}]*)\|([^|}]*)\}/g, (_, name: string, one: string, many: string) =>
      String(values[name]) === "1" ? one : many,
    )
    .replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

export function placeholders(phrase: string): string[] {
  return [...phrase.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "").sort();
}
