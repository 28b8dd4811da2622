/** The words of the page in the chosen language. */

import { chinese } from "../base/chinese";
import { chineseError } from "../base/chinese_errors";
import { chineseReason } from "../base/chinese_reasons";
import { english, type PhraseKey } from "../base/english";
import { fill, type PhraseValues } from "../base/phrases";
import { language } from "./preferences";

const tables = { en: english, zh: chinese };

/** A phrase; reading it subscribes to the language. */
export function text(key: PhraseKey, values: PhraseValues = {}): string {
  return fill(tables[language.value][key], values);
}

/** What the comparison says of a node. */
export function reasonText(reason: string): string {
  return language.value === "zh" ? chineseReason(reason) : reason;
}

/** What the server says of an error, or of a file. */
export function errorText(said: string): string {
  return language.value === "zh" ? chineseError(said) : said;
}
