// A file is chosen, its rows stand face to face, boxes open and close.
import assert from "node:assert/strict";
import { address, becomes, journey, open, picture, RUN, row, rows } from "./page.mjs";

await journey(async (page) => {
  await page.goto(address);
  await page.getByRole("button", { name: RUN }).waitFor();
  await picture(page, "files");
  await page.getByRole("button", { name: RUN }).click();
  await row(page, "decoder").waitFor();
  await page.getByRole("button", { name: /step 0, rank 3/ }).click();
  // A closed box tells of the red nodes inside.
  await row(page, "decoder").locator(".half.t .inside", { hasText: "5 inside" }).waitFor();
  await row(page, "decoder").locator(".half.t .twist").click();
  await row(page, "layers.1").locator(".half.t").dblclick();
  await row(page, "attn").locator(".half.g .twist").click();
  await row(page, "Tensor.mul_.0").waitFor();
  const shown = await rows(page);
  assert.ok(shown.includes("Tensor.mul_.0 | no partner | -"), shown.join("\n"));
  assert.ok(shown.includes("Functional.softmax.1 | 1.00 | Functional.softmax.1"));
  const half = (side) => row(page, "Functional.softmax.1").locator(`.half.${side} .box`).boundingBox();
  assert.equal((await half("t")).y, (await half("g")).y);
  // Boxes in boxes: what is inside stands within the frames around it, on both sides.
  // All by the page's own measure, which begins elsewhere in TensorBoard.
  const places = (locator) =>
    locator.evaluateAll((boxes) => boxes.map((box) => box.getBoundingClientRect().toJSON()));
  const [inside] = await places(row(page, "proj").locator(".half.g .box"));
  const around = await places(page.locator(".frames.g i"));
  assert.equal(around.length, 3);
  for (const { left, right, top, bottom } of around) {
    assert.ok(left < inside.left && inside.right < right, JSON.stringify(around));
    assert.ok(top < inside.top && inside.bottom < bottom, JSON.stringify(around));
  }
  const fill = (side) =>
    row(page, "Functional.softmax.1")
      .locator(`.half.${side} .box`)
      .evaluate((box) => getComputedStyle(box).backgroundColor);
  assert.equal(await fill("t"), await fill("g"));
  await row(page, "layers.1").locator(".half.t .twist").click();
  await becomes(() => row(page, "attn").count(), 0);
  // A graph alone has the whole width, and no empty panel beside it.
  await open(page, { file: "build_one.vis" });
  const alone = await row(page, "decoder").locator(".half .box").boundingBox();
  assert.ok(alone.width > 1200, `${alone.width} px`);
  // Nothing is asked where there is nothing to choose.
  assert.equal(await page.getByLabel("step", { exact: true }).count(), 0);
});
