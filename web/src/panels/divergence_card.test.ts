import { expect, it } from "vitest";
import { shortFrame } from "./divergence_card";

it("shortens a frame to file, line and code", () => {
  expect(
    shortFrame("File /a/b c/attention.py, line 84, in forward, \n w = softmax(x, dim=-1)"),
  ).toBe("attention.py:84  w = softmax(x, dim=-1)");
  expect(shortFrame("File C:\\x\\m.py, line 3, in <module>")).toBe("m.py:3");
});

it("keeps what it does not know", () => {
  expect(shortFrame("anything else")).toBe("anything else");
  expect(shortFrame("")).toBe("");
});
