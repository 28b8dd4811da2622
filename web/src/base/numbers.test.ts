import { describe, expect, it } from "vitest";
import { groupDigits, readableBytes, readableNumber } from "./numbers";

describe("readableNumber", () => {
  it.each([
    ["0", "0"],
    ["-0.0", "−0"],
    ["1.9814453125", "1.98145"],
    ["-10.9140625", "−10.9141"],
    ["0.000012345678", "1.23457e−5"],
    ["12345678.9", "1.23457e7"],
    ["3.4028234663852886e+38", "3.40282e38"],
    ["512", "512"],
    ["1234567", "1\u202f234\u202f567"],
    ["NaN", "NaN"],
    ["-inf", "-inf"],
    ["0.41%", "0.41%"],
    ["98.000000%", "98%"],
    ["0.0000%", "0%"],
    ["12345.678%", "12350%"],
    ["-3.5%", "−3.5%"],
    ["%", "%"],
    ["nan%", "nan%"],
    ["1e999", "1e999"],
    ["[2, 8]", "[2, 8]"],
    ["", ""],
  ])("%s as %s", (text, expected) => {
    expect(readableNumber(text)).toBe(expected);
  });
});

it("groups digits", () => {
  expect(groupDigits(999)).toBe("999");
  expect(groupDigits(1_000_000)).toBe("1\u202f000\u202f000");
});

it("shortens sizes", () => {
  expect(readableBytes(999)).toBe("999 B");
  expect(readableBytes(821_000_000)).toBe("821 MB");
  expect(readableBytes(1_500)).toBe("1.5 kB");
});
