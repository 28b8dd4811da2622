// What was recorded of a node: readable numbers, all digits by hover and copy, stack, path, partner.
import assert from "node:assert/strict";
import { becomes, CULPRIT, journey, open, picture, RUN, selected } from "./page.mjs";

await journey(async (page) => {
  // Plain http at another name than localhost has no clipboard API: copying must work all the same.
  await page.addInitScript(() => Object.defineProperty(window, "isSecureContext", { value: false }));
  await open(page, { file: RUN, step: 0, rank: 3, node: `${CULPRIT}.forward` });
  const output = page.locator(".values tbody[aria-label=Outputs] tr");
  await output.first().waitFor();
  assert.match(await output.first().textContent(), /^output\.0errortarget/);
  const shown = await output.first().locator(".number").first();
  const full = await shown.getAttribute("title");
  assert.ok(full.length >= (await shown.textContent()).length);
  assert.ok((await output.first().locator(".differs").count()) >= 3);
  // A number is told once.
  const number = page.locator(".values tbody[aria-label=Inputs] tr", { hasText: "input.dim" }).first();
  await becomes(() => number.locator("td bdi").allTextContents(), ["int", "[]", "-1"]);
  // Far right, name and side are still told, and the headings of both stand above them.
  const lefts = () =>
    page.locator(".values .value-name").evaluateAll((cells) => [
      cells.map((cell) => cell.getBoundingClientRect().left - cells[0].getBoundingClientRect().left),
      cells[0].getBoundingClientRect().left,
    ]);
  await page.setViewportSize({ width: 900, height: 720 });
  // The page scrolls, not a slit of it.
  const [high, wanted] = await page
    .locator(".tab-content")
    .evaluate((content) => [content.clientHeight, Math.min(content.scrollHeight, innerHeight / 2)]);
  assert.ok(high >= wanted, `${high} of ${wanted} pixels`);
  const [, begin] = await lefts();
  await page.locator(".tab-content").evaluate((content) => content.scrollTo(9999, 0));
  await page.locator(".tab-content.aside").waitFor();
  const [away, left] = await lefts();
  assert.deepEqual([Math.max(...away), left], [0, begin]);
  assert.match(await output.nth(1).locator(".value-name").textContent(), /golden$/);
  // What tells most stands first.
  const heads = await page.locator(".values thead .metric").allTextContents();
  assert.deepEqual(heads, ["MaxRelativeErr", "NormRelativeErr", "Max diff"]);
  await page.locator(".tab-content").evaluate((content) => content.scrollTo(0, 0));
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.evaluate(() => {
    document.addEventListener("copy", () => {
      window.copied = String(document.activeElement.value ?? getSelection());
    });
  });
  await shown.click();
  await becomes(() => page.evaluate(() => window.copied), full);
  await page.getByRole("tab", { name: "Source stack" }).click();
  await page.locator(".stack .place", { hasText: "attention.py, line 84" }).waitFor();
  await picture(page, "stack", { chinese: true });
  await page.getByRole("button", { name: "Copy the stack" }).click();
  await becomes(() => page.evaluate(() => window.copied.includes("attention.py, line 84")), true);
  await page.getByRole("tab", { name: "Attributes" }).click();
  await page.locator(".facts dd", { hasText: "API call" }).waitFor();
  await page.locator(".breadcrumb").getByRole("button", { name: "attn" }).click();
  await becomes(() => selected(page), "attn");
  await page.getByRole("button", { name: "to golden partner" }).click();
  await page.getByRole("button", { name: "to target partner" }).waitFor();
});
