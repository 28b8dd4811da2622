// Chinese, dark, large text, small windows, and what a screen reader gets.
import assert from "node:assert/strict";
import { becomes, CULPRIT, journey, open, picture, RUN, row, selected } from "./page.mjs";

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

await journey(async (page) => {
  await open(page, { file: RUN, step: 0, rank: 3, node: `${CULPRIT}.forward` });
  await becomes(() => selected(page), CULPRIT);
  assert.ok((await overflow(page)) <= 0);

  const tree = page.getByRole("tree");
  const item = tree.getByRole("treeitem", { name: /Functional.softmax.1, index 1.00, diverges here/ });
  assert.equal(await item.getAttribute("aria-selected"), "true");
  assert.equal(await item.getAttribute("aria-level"), "4");
  const opened = tree.getByRole("treeitem", { name: /^attn/ });
  assert.equal(await opened.getAttribute("aria-expanded"), "true");

  await page.getByRole("button", { name: "Show in Chinese" }).click();
  await page.getByRole("heading", { name: "首个分歧点" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
  await picture(page, "chinese");
  await page.reload();
  await page.getByRole("heading", { name: "首个分歧点" }).waitFor();
  await page.getByRole("button", { name: "切换到英文" }).click();

  const height = async () => (await row(page, CULPRIT).boundingBox()).height;
  const before = await height();
  for (let i = 0; i < 6; i += 1) await page.getByRole("button", { name: "Larger text" }).click();
  await becomes(async () => Math.abs((await height()) / before - 2) < 0.1, true);
  assert.ok((await overflow(page)) <= 0);
  await picture(page, "large_text");
  for (let i = 0; i < 5; i += 1) await page.getByRole("button", { name: "Smaller text" }).click();

  // 400 % zoom of a window of 1280 × 720.
  await page.setViewportSize({ width: 320, height: 180 });
  // What one goes to comes into sight, also where the tree is far below.
  await page.evaluate(() => scrollTo(0, 0));
  await page.keyboard.press("f");
  const inSight = () => {
    const { top, bottom } = document.querySelector(".line.selected")?.getBoundingClientRect() ?? {};
    return top >= 0 && bottom <= innerHeight;
  };
  await becomes(() => page.evaluate(inSight), true);
  await row(page, CULPRIT).scrollIntoViewIfNeeded();
  assert.ok((await overflow(page)) <= 0, `${await overflow(page)} px too wide`);
  // There is room for one side: its names are whole, and what it lacks is named in the gap.
  const whole = () =>
    page.locator(".line.row .label").evaluateAll((labels) => {
      const cut = labels.filter((label) => label.scrollWidth > label.clientWidth + 1);
      return [labels.length > 5, cut.map((label) => label.textContent)];
    });
  await becomes(whole, [true, []]);
  assert.equal(await row(page, CULPRIT).locator(".half").count(), 1);
  assert.equal(await row(page, CULPRIT).locator(".gutter").textContent(), "1.00");
  await page.locator(".trees").scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: /^golden/ }).click();
  await row(page, "Tensor.mul_.0").locator(".half.g .gap").waitFor();
  await becomes(whole, [true, []]);
  await page.getByRole("button", { name: /^target/ }).click();
  await row(page, CULPRIT).scrollIntoViewIfNeeded();
  await picture(page, "zoom");
  await page.evaluate(() => scrollTo(0, 0));
  await page.getByRole("button", { name: "linked" }).click();
  await page.locator(".tree").nth(1).waitFor({ state: "attached" });
  await becomes(whole, [true, []]);
  await page.getByRole("button", { name: "linked" }).click();

  // With more room words about a node come back, one after the other, but names stay whole.
  const words = () =>
    row(page, CULPRIT).locator(".half .culprit, .half .overflow").allTextContents();
  for (const [width, expected] of [[400, []], [520, ["diverges here"]]]) {
    await page.setViewportSize({ width, height: 300 });
    await page.locator(".trees").scrollIntoViewIfNeeded();
    await becomes(words, expected);
    await becomes(whole, [true, []]);
  }

  // Beside the panel both sides need more: strips of ranks go first, what one looks for stays.
  const strips = () => page.locator(".rank-strips").count();
  for (const [width, count, sides] of [[900, 0, 1], [960, 0, 2], [1280, 1, 2]]) {
    await page.setViewportSize({ width, height: 720 });
    await page.evaluate(() => scrollTo(0, 0));
    await page.keyboard.press("f");
    await becomes(() => row(page, CULPRIT).locator(".half").count(), sides);
    assert.equal(await strips(), count);
    const sign = row(page, CULPRIT).locator(".half.t .culprit");
    const name = row(page, CULPRIT).locator(".half.t .label");
    await becomes(async () => (await sign.count()) === 1 && (await name.boundingBox()).width > 50, true);
  }

  // In a narrow window the values take all the room below the trees; what is more scrolls with the page.
  for (const height of [720, 1400]) {
    await page.setViewportSize({ width: 800, height });
    const values = () =>
      page.locator(".tab-content").evaluate((content) => {
        const { bottom, height: shown } = content.getBoundingClientRect();
        const all = document.documentElement.scrollHeight - scrollY - bottom;
        return [Math.round(all), shown >= Math.min(content.scrollHeight, innerHeight / 2)];
      });
    await becomes(values, [0, true]);
  }

  await page.setViewportSize({ width: 1280, height: 720 });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole("button", { name: /^Theme/ }).click();
  await page.getByRole("button", { name: /^Theme/ }).click();
  await becomes(async () => (await ground()) === light, false);
});
