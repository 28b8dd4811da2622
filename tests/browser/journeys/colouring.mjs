// Status and overflow as colours; the strip over the whole run leads to suspicious places.
import assert from "node:assert/strict";
import { becomes, CULPRIT, journey, open, picture, RUN, row, selected } from "./page.mjs";

await journey(async (page) => {
  await open(page, { file: RUN, step: 0, rank: 3, node: `${CULPRIT}.forward` });
  const fill = (label) =>
    row(page, label)
      .locator(".half.t .box")
      .evaluate((box) => getComputedStyle(box).backgroundColor);
  // The legend is that of the colours: large and with a bar each.
  const sample = (word) =>
    page
      .locator(".band", { hasText: word })
      .locator(".swatch")
      .evaluate((swatch) => getComputedStyle(swatch).backgroundColor);
  const byIndex = await fill("ln2");
  await page.getByLabel("colour").selectOption("status");
  await becomes(() => fill(CULPRIT), await sample("error"));
  await page.getByRole("heading", { name: "Status" }).waitFor();
  await page.locator(".chip", { hasText: "0.8 – 1" }).waitFor();
  // An error is as red as the worst index: what passes has a colour of its own.
  await becomes(() => fill("ln1"), await sample("pass"));
  await page.locator(".band", { hasText: "unmatched target" }).waitFor();
  await page.getByLabel("colour").selectOption("overflow");
  await becomes(() => fill(CULPRIT), await sample("overflow: high"));
  // What does not overflow has no colour, on both sides.
  assert.equal(await fill("ln1"), await fill("ln2"));
  await picture(page, "overflow", { chinese: true });
  await page.getByLabel("colour").selectOption("index");
  await becomes(() => fill("ln2"), byIndex);

  await page.locator(".tree").focus();
  await page.keyboard.press("c");
  await becomes(() => row(page, CULPRIT).count(), 0);
  // Closed boxes stand for what is in them: all of the run is in sight.
  const sight = () =>
    page.locator(".sight").evaluate(({ style }) => [style.top, style.height].map(parseFloat));
  await becomes(async () => (await sight())[0] < 1, true); // the root stands before all rows
  const [top, height] = await sight();
  assert.equal(Math.round(top + height), 100);
  // What the colours mean is told of what a closed box hides, too.
  const inside = () => row(page, "decoder").locator(".half.t .inside").allTextContents();
  await becomes(inside, ["5 inside"]);
  await page.getByLabel("colour").selectOption("overflow");
  await becomes(inside, ["1 overflow inside"]);
  await page.getByLabel("colour").selectOption("index");
  const strip = await page.locator(".overview").boundingBox();
  await page.mouse.click(strip.x + strip.width / 2, strip.y + strip.height * 0.24);
  await row(page, "layers.1").waitFor();
});
