// 10,000 children and a depth of 400: only what is in sight exists and is loaded.
import assert from "node:assert/strict";
import { becomes, journey, open, picture, row, rows, selected } from "./page.mjs";

await journey(async (page) => {
  let loaded = 0;
  page.on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith("/rows")) loaded += 1;
  });
  await open(page, { file: "wide.vis" });
  await row(page, "Torch.add.0").waitFor();
  assert.ok((await rows(page)).length < 80);
  await page.locator(".tree").evaluate((tree) => {
    tree.scrollTop = tree.scrollHeight / 2;
  });
  await becomes(async () => (await rows(page)).some((text) => text.startsWith("Torch.add.50")), true);
  assert.ok((await rows(page)).length < 80);
  assert.ok(loaded < 12, `${loaded} pages were loaded`);
  // Larger and smaller text leave one where one is.
  const first = () =>
    page.locator(".tree").evaluate((tree) => {
      const { top } = tree.getBoundingClientRect();
      const lines = [...tree.querySelectorAll(".line.row")];
      return lines.find((line) => line.getBoundingClientRect().bottom > top + 1)?.querySelector(".label").textContent;
    });
  const before = await first();
  for (const name of ["Larger text", "Larger text", "Smaller text", "Smaller text"]) {
    await page.getByRole("button", { name }).click();
    await becomes(first, before);
  }
  await page.keyboard.press("n");
  await becomes(() => selected(page), "Torch.add.9993");
  await page.locator(".tree").focus();
  await page.keyboard.press("End");
  await becomes(() => selected(page), "Torch.add.9999");
  await open(page, { file: "deep.vis" });
  await page.locator(".node-list .item").first().waitFor();
  await page.keyboard.press("n");
  await becomes(() => selected(page), "m399");
  const box = await row(page, "m399").locator(".half.t .box").boundingBox();
  assert.ok(box.width > 80, `the innermost box is ${box.width} px wide`);
  assert.ok((await rows(page)).length < 80);
  await page.locator(".context button", { hasText: "m" }).first().waitFor();
  await picture(page, "deep");
});
