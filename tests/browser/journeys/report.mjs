// An exported report shows the same from a file, without a server.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { becomes, CULPRIT, journey, picture, row, selected } from "./page.mjs";

await journey(async (page) => {
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  for (const path of JSON.parse(process.env.MSPROBE_REPORTS)) await look(page, path);
  for (const path of JSON.parse(process.env.MSPROBE_SINGLE_REPORTS)) await lookAtOne(page, path);
  assert.deepEqual(asked.filter((url) => !/^(file|data):/.test(url)), []);
});

async function look(page, path) {
  await page.goto(`${pathToFileURL(path).href}#rank=3&step=0`);
  await page.locator(".divergence-name").waitFor();
  await page.keyboard.press("f");
  await becomes(() => selected(page), CULPRIT);
  await page.locator(".values .differs").first().waitFor();
  await picture(page, "report", { chinese: true });
  await page.keyboard.press("/");
  await page.keyboard.type("gelu");
  await page.locator(".hits .item").first().click();
  await row(page, "Functional.gelu.0").waitFor();
  await page.reload();
  await becomes(() => selected(page), "Functional.gelu.0");
  assert.equal(await page.getByRole("button", { name: "Match by hand" }).count(), 0);
}

/** A graph alone: nothing to compare, all else as in the server. */
async function lookAtOne(page, path) {
  await page.goto(pathToFileURL(path).href);
  await row(page, "decoder").locator(".twist").click();
  await row(page, "layers.1").waitFor();
  assert.equal(await page.locator(".gutter, .half.g, .overview, .divergence").count(), 0);
  await page.keyboard.press("/");
  await page.keyboard.type("softmax.1");
  await page.locator(".hits .item").first().click();
  await becomes(() => selected(page), CULPRIT);
  const output = page.locator(".values tbody[aria-label=Outputs] tr");
  await output.first().waitFor();
  assert.equal(await output.count(), 1);
  await page.getByRole("tab", { name: "Source stack" }).click();
  await page.locator(".stack .place", { hasText: "model.py, line 40" }).waitFor();
  await page.reload();
  await becomes(() => selected(page), CULPRIT);
}
