// Not linked, the sides open and scroll on their own; lists still bring both to the node.
import assert from "node:assert/strict";
import { becomes, CULPRIT, journey, open, picture, RUN, selected } from "./page.mjs";

await journey(async (page) => {
  await open(page, { file: RUN, step: 0, rank: 3 });
  await page.getByRole("button", { name: "linked" }).click();
  await becomes(() => page.locator(".tree").count(), 2);
  const tree = (side) => page.locator(".tree").nth(side);
  const label = (side, name) => tree(side).locator(`.label:text-is("${name}")`);
  await label(0, "decoder").first().dblclick();
  await label(0, "layers.1").waitFor();
  assert.equal(await label(1, "layers.1").count(), 0);
  await page.keyboard.press("f");
  await becomes(() => selected(page), CULPRIT);
  await label(0, CULPRIT).waitFor();
  await label(1, CULPRIT).waitFor();
  await picture(page, "apart", { chinese: true });
  // Keys go on where the partner is.
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  await label(1, CULPRIT).click();
  await becomes(focused, "Golden");
  assert.equal(await page.locator(".overview .sight").count(), 1);
  await page.keyboard.press("p");
  await becomes(focused, "Target");
  await label(1, "layers.2").first().dblclick();
  const openRows = (n) => page.locator(`.tree`).nth(n).locator('[aria-expanded="true"]').evaluateAll((rows) =>
    rows.map((row) => row.querySelector(".label").textContent),
  );
  await becomes(() => openRows(0), ["decoder", "layers.1", "attn"]);
  await becomes(() => openRows(1), ["decoder", "layers.1", "attn", "layers.2"]);
  // Linked again, a pair is open if it was on either side.
  await page.getByRole("button", { name: "linked" }).click();
  await becomes(() => page.locator(".tree").count(), 1);
  await becomes(() => selected(page), "layers.2");
  await becomes(() => openRows(0), ["decoder", "layers.1", "attn", "layers.2"]);
  await picture(page, "linked_again");
  await page.getByRole("button", { name: "linked" }).click();
  await becomes(() => page.locator(".tree").count(), 2);
  await becomes(() => openRows(0), ["decoder", "layers.1", "attn", "layers.2"]);
  await becomes(() => openRows(1), ["decoder", "layers.1", "attn", "layers.2"]);
});
