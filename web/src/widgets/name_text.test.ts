import { expect, it } from "vitest";
import { shortened } from "./name_text";

it("keeps both ends of a long name", () => {
  expect(shortened("net.fc.forward", 14)).toBe("net.fc.forward");
  const long = (end: string) => `Module.${"x".repeat(300)}.${end}`;
  expect(shortened(long("fc1"), 30)).toBe(`Module.${"x".repeat(13)}…xxxxxx.fc1`);
  expect(shortened(long("fc1"))).not.toBe(shortened(long("fc2")));
});
