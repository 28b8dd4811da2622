import { describe, expect, it } from "vitest";
import { chinese } from "./chinese";
import { english, type PhraseKey } from "./english";
import { fill, placeholders } from "./phrases";

describe("phrases", () => {
  it("have the same keys in both languages", () => {
    expect(Object.keys(chinese)).toEqual(Object.keys(english));
  });

  it.each(Object.keys(english) as PhraseKey[])("%s has the same places for values", (key) => {
    expect(placeholders(chinese[key])).toEqual(placeholders(english[key]));
    expect(chinese[key].trim()).not.toBe("");
  });

  it("fills values in, as text", () => {
    expect(fill("{a} of {b}", { a: 1, b: "<b>$&" })).toBe("1 of <b>$&");
    expect(fill("{missing}", {})).toBe("{missing}");
  });

  it("chooses the word by the number", () => {
    const phrase = "{count} later {count|node carries|nodes carry} it on";
    expect(fill(phrase, { count: 1 })).toBe("1 later node carries it on");
    expect(fill(phrase, { count: "1" })).toBe("1 later node carries it on");
    expect(fill(phrase, { count: 21 })).toBe("21 later nodes carry it on");
  });
});
