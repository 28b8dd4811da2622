// Dividers move by dragging and by keys.
import assert from "node:assert/strict";
import { becomes, journey, open, RUN } from "./page.mjs";

await journey(async (page) => {
  await open(page, { file: RUN, step: 0, rank: 3 });
  const width = async (what) => Math.round((await page.locator(what).first().boundingBox()).width);
  const before = await width(".half.t");
  const bar = await page.getByRole("separator", { name: "Share of the target side" }).boundingBox();
  await page.mouse.move(bar.x + 2, bar.y + 5);
  await page.mouse.down();
  await page.mouse.move(bar.x + 102, bar.y + 5, { steps: 4 });
  await page.mouse.up();
  await becomes(async () => (await width(".half.t")) > before + 60, true);
  const side = await width("aside");
  await page.getByRole("separator", { name: "Width of the side panel" }).focus();
  await page.keyboard.press("ArrowRight");
  await becomes(async () => (await width("aside")) > side, true);
  await page.reload();
  await page.locator(".half.t").first().waitFor();
  assert.ok((await width("aside")) > side);
});
