// Everything can be reached by keys.
import assert from "node:assert/strict";
import { becomes, journey, open, RUN, row, selected } from "./page.mjs";

await journey(async (page) => {
  await open(page, { file: RUN, step: 0, rank: 3 });
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await page.locator(".tree").focus();
  await press("ArrowDown");
  await becomes(() => selected(page), "embedding");
  await press("ArrowDown", "ArrowRight", "ArrowRight");
  await becomes(() => selected(page), "layers.0");
  await press("ArrowDown", "Enter");
  await row(page, "attn").waitFor();
  const active = await page.locator(".tree").getAttribute("aria-activedescendant");
  assert.equal(await page.locator(`[id="${active}"] .half.t .label`).textContent(), "layers.1");
  await press("ArrowLeft", "ArrowLeft");
  await becomes(() => selected(page), "decoder");
  await press("End");
  await becomes(() => selected(page), "decoder");
  await press("Home");
  await becomes(() => selected(page), "embedding");
  await press("n");
  await becomes(() => selected(page), "layers.1");
  await press("n", "n");
  await becomes(() => selected(page), "Functional.softmax.1");
  await press("N");
  await becomes(() => selected(page), "attn");
  // The list beside the trees, too.
  await page.getByRole("listbox").focus();
  await press("ArrowDown", "End", "Enter");
  await becomes(() => selected(page), "proj");
  await press("ArrowUp", "ArrowUp", "Enter");
  await becomes(() => selected(page), "Functional.softmax.1");
  await page.getByRole("tab", { name: "Tensors" }).focus();
  await press("ArrowRight");
  await page.locator(".stack .place").first().waitFor();
  await press("ArrowLeft", "ArrowLeft");
  await page.locator(".facts").waitFor();
  await press("?");
  await page.getByRole("dialog").waitFor();
  await press("Escape");
  await becomes(() => page.getByRole("dialog").count(), 0);
  await press("c");
  await becomes(() => row(page, "layers.1").count(), 0);
  await press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
});
