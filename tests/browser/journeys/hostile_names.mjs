// Names are text: tags, quotes, other scripts, other directions, ten thousand letters.
import assert from "node:assert/strict";
import { becomes, journey, open, picture, row, rows } from "./page.mjs";

await journey(async (page) => {
  await open(page, { file: "hostile.vis" });
  await becomes(async () => (await rows(page)).length, 6);
  const labels = await page.locator(".half.t .label").allTextContents();
  assert.equal(labels[0], "<script>window.hacked = 1</script>");
  assert.ok(labels.includes("层.注意力.前向"));
  // A name is cut only where there is no room, and then before its end.
  const cuts = await page.locator(".half.t .label.split").evaluateAll((labels) =>
    labels.map((label) => {
      const [begin, end] = label.children;
      const outside = end.getBoundingClientRect().right - label.getBoundingClientRect().right;
      return { cut: begin.scrollWidth > begin.clientWidth, whole: outside < 1 };
    }),
  );
  assert.deepEqual(cuts.at(0), { cut: false, whole: true });
  assert.deepEqual(cuts.at(-1), { cut: true, whole: true });
  for (let i = 0; i < 6; i += 1) {
    await page.locator(".line.row").nth(i).locator(".half.t").click();
    await page.locator(".detail .node-name").waitFor();
    for (const tab of ["Source stack", "Attributes", "Tensors"]) {
      await page.getByRole("tab", { name: tab }).click();
    }
  }
  await page.locator(".line.row").nth(0).locator(".half.t").click();
  await picture(page, "hostile");
  await page.keyboard.press("/");
  await page.keyboard.type("<script>");
  await page.locator(".hits .item").first().waitFor();
  await page.keyboard.press("Enter");
  await page.reload();
  await row(page, "<script>window.hacked = 1</script>").waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("img").count(), 0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} px too wide`);
});
