// A closed box tells of the worst inside it by whatever the colours mean: no red leaf is hidden.
import { becomes, journey, open, picture, row } from "./page.mjs";

await journey(async (page) => {
  await open(page, { file: "verdicts.vis" });
  const sample = (word) =>
    page
      .locator(".filters button", { hasText: word })
      .locator(".swatch")
      .evaluate((swatch) => getComputedStyle(swatch).backgroundColor);
  const told = async (label) => {
    const sign = row(page, label).locator(".half.t .inside");
    if ((await sign.count()) === 0) return [];
    const color = await sign.evaluate((pill) => getComputedStyle(pill).backgroundColor);
    const corner = await row(page, label).locator(".half.t .box.hides").count();
    return [await sign.textContent(), color, corner];
  };
  await becomes(() => told("calm"), ["1 inside", await sample("0.8 – 1"), 1]);
  await becomes(() => told("quiet"), ["1 inside", await sample("0.8 – 1"), 0]);
  // Whether the strip over the whole run has marks at its first box of errors and at its end.
  const marks = () =>
    page.locator(".overview canvas").evaluate((canvas) => {
      const pen = canvas.getContext("2d");
      const drawn = (y) => pen.getImageData(canvas.width / 2, y, 1, 1).data[3] > 0;
      return [drawn(Math.floor(canvas.height * 0.45)), drawn(canvas.height - 3)];
    });
  await becomes(marks, [false, true]);

  await page.getByLabel("colour").selectOption("status");
  await becomes(() => told("calm"), ["2 inside", await sample("error"), 1]);
  await becomes(() => told("loud"), ["1 inside", await sample("error"), 0]);
  await becomes(() => told("quiet"), []);
  // In the strip, too: the last place in it passes, whatever its index is.
  await becomes(marks, [true, false]);
  const spoken = await row(page, "calm").getAttribute("aria-label");
  await becomes(() => spoken.includes("2 inside: error"), true);
  await picture(page, "closed_by_status");

  await page.getByLabel("colour").selectOption("overflow");
  await becomes(() => told("calm"), ["2 overflow inside", await sample("overflow: medium"), 1]);
  await becomes(() => told("loud"), ["1 overflow inside", await sample("overflow: critical"), 0]);
  await becomes(() => told("quiet"), []);
  await picture(page, "closed_by_overflow");
});
