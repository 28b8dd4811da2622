// Without a pointer: a file is chosen, a list filtered, two nodes are paired by hand and let go again; in Chinese and dark.
import assert from "node:assert/strict";
import { address, at, becomes, journey, selected, takeKeys } from "./page.mjs";

const FILE = "compare_other.vis";

/** Goes on with Tab until what is wanted has the focus. */
async function tabTo(page, wanted) {
  await wanted.waitFor();
  for (let i = 0; i < 120; i += 1) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab never came to ${wanted}`);
}

await journey(
  async (page) => {
    const enter = async (wanted) => {
      await tabTo(page, wanted);
      await page.keyboard.press("Enter");
    };
    const button = (name, exact = true) => page.getByRole("button", { name, exact });
    await page.goto(process.env.MSPROBE_INSIDE === undefined ? address : at({}));
    await button(FILE).waitFor();
    await takeKeys(page);
    await enter(button("切换到英文"));
    await enter(button("Show in Chinese"));
    await enter(button(FILE));
    await page.locator(".band", { hasText: "未匹配（标杆侧）" }).waitFor();
    // Grey nodes of the other side as a list; one of it is picked.
    await enter(page.locator(".band").last());
    await tabTo(page, page.getByRole("listbox"));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await becomes(() => selected(page), "Functional.dropout.0");
    const start = page.locator(".node-line .pick");
    // What one presses goes away: keys go on in the tree.
    const inTree = () => page.evaluate(() => document.activeElement.role === "tree");
    await enter(start);
    await page.locator(".match-bar").waitFor();
    await becomes(inTree, true);
    // Escape lets it go, Enter picks it again.
    await page.keyboard.press("Escape");
    await becomes(() => page.locator(".match-bar").count(), 0);
    await enter(start);
    await enter(page.locator(".band").nth(-2));
    await tabTo(page, page.getByRole("listbox"));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await becomes(() => selected(page), "Tensor.mul_.0");
    await enter(page.locator(".match-bar .main"));
    await page.locator(".match-bar .pick").first().waitFor();
    await becomes(inTree, true);
    await takeKeys(page);
    await enter(page.locator(".match-bar .pick").first());
    await becomes(() => page.locator(".match-bar").count(), 0);
    await becomes(inTree, true);
    await page.keyboard.press("/");
    await becomes(() => page.evaluate(() => document.activeElement.id), "search");
    await page.keyboard.press("Escape");
    await becomes(inTree, true);
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const [red, green, blue] = ground.match(/\d+/g).map(Number);
    assert.ok(red + green + blue < 200, `dark, but the page is ${ground}`);
  },
  { colorScheme: "dark", locale: "zh-CN" },
);
