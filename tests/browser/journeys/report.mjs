// An exported report shows the same from a file, without a server.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { becomes, CULPRIT, journey, picture, row, selected } from "./page.mjs";

await journey(async (page) => {
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  for (const path of JSON.parse(process.env.MSPROBE_REPORTS)) await look(page, path);
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
