// Two grey nodes are paired by hand, looked at, and let go again.
import assert from "node:assert/strict";
import { becomes, journey, open, picture, row, rows, selected } from "./page.mjs";

const FILE = "compare_other.vis";
const golden = "Functional.dropout.0";

await journey(async (page) => {
  await open(page, { file: FILE, node: `${golden}.forward`, side: "g" });
  await becomes(() => selected(page), golden);
  await page.getByRole("button", { name: "Match by hand" }).click();
  await page.getByText("now select its unmatched partner on the target side").waitFor();
  await page.locator(".band", { hasText: "unmatched target" }).click();
  await page.locator(".node-list .item").first().waitFor();
  await page.locator(".node-list .item").first().click();
  const target = "Tensor.mul_.0";
  await becomes(() => selected(page), target);
  await picture(page, "matching", { chinese: true });
  await page.getByRole("button", { name: "Match", exact: true }).click();
  await page.getByText("Matched by hand: 1").waitFor();
  await page.locator(".notice", { hasText: "Matched and saved" }).waitFor();
  await becomes(() => selected(page), target);
  await page.getByRole("button", { name: "to golden partner" }).waitFor();
  // They are in different boxes: they cannot face each other, but are no longer without a partner.
  await becomes(async () => (await rows(page)).includes(`${target} | elsewhere | -`), true);
  // It is saved. A mapping names modules: there is none to be taken away.
  await page.reload();
  await page.getByText("Matched by hand: 1").click();
  await page.locator(".match-list li", { hasText: golden }).waitFor();
  await page.getByText("Nothing to export: a layer mapping names modules").waitFor();
  assert.equal(await page.getByText("Export as yaml").count(), 0);
  await page.locator(".match-list").getByRole("button", { name: target }).click();
  await becomes(() => selected(page), target);
  await page.getByRole("button", { name: "Undo the last" }).click();
  await becomes(() => page.getByText(/Matched by hand/).count(), 0);
  await page.locator(".notice", { hasText: "No longer matched: " }).waitFor();
  await row(page, target).waitFor();
  await becomes(async () => (await rows(page)).includes(`${target} | no partner | -`), true);
});
