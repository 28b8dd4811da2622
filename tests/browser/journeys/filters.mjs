// The legend is the filter: lists with counts, in execution order, next and previous.
import assert from "node:assert/strict";
import { becomes, journey, open, picture, RUN, row, selected } from "./page.mjs";

await journey(async (page) => {
  await open(page, { file: RUN, step: 0, rank: 3 });
  const items = () => page.locator(".node-list .item-label").allTextContents();
  const title = () => page.locator(".node-list h2 > span").first().textContent();
  await becomes(() => title(), "Suspicious nodes5");
  await page.locator(".band", { hasText: "0.6 – 0.8" }).click();
  await becomes(() => title(), "Index 0.6 – 0.813");
  await page.locator(".band", { hasText: "unmatched golden" }).click();
  await becomes(() => title(), "unmatched golden3");
  assert.deepEqual(await items(), [0, 1, 2].map((i) => `Functional.dropout.${i}`));
  // Both sides open, also for a node that only one side has.
  await page.locator(".node-list .item").nth(2).click();
  await becomes(() => selected(page), "Functional.dropout.2");
  await row(page, "Functional.dropout.2").locator(".half.t .gap").waitFor();
  await page.locator(".values tbody tr").first().waitFor();
  await picture(page, "filters", { chinese: true });
  // Keys go on from there.
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await becomes(() => selected(page), "Functional.dropout.0");
  await page.keyboard.press("n");
  await becomes(() => selected(page), "Functional.dropout.1");
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  await page.locator(".notice").waitFor();
  await becomes(() => selected(page), "Functional.dropout.0");
  await page.locator(".chip", { hasText: "overflow: high" }).click();
  await becomes(() => items(), ["Functional.softmax.1"]);
  await page.locator(".chip", { hasText: "overflow: high" }).click();
  await becomes(() => title(), "Suspicious nodes5");
});
