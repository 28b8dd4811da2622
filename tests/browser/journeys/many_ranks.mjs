// Two steps of 128 ranks, one of them damaged: the map leaves room, keys go through it, all others can be reached.
import assert from "node:assert/strict";
import { copyFileSync, linkSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { becomes, journey, open, placeOf, startServer, stopServer } from "./page.mjs";

const [, , files] = JSON.parse(process.env.MSPROBE_SERVER);
const folder = mkdtempSync(join(tmpdir(), "msprobe-ranks-"));
const name = (step, rank) => join(folder, `compare_step${step}_rank${rank}_1.vis`);
copyFileSync(join(files, "compare_step0_rank3_20261129.vis"), name(0, 0));
for (const step of [0, 1]) {
  for (let rank = 0; rank < 128; rank += 1) {
    if (step + rank > 0) linkSync(name(0, 0), name(step, rank));
  }
}
linkSync(name(0, 0), join(folder, `compare_${"x".repeat(200)}.vis`));
rmSync(name(0, 1));
writeFileSync(name(0, 1), readFileSync(name(0, 0)).subarray(0, 20_000));

const server = await startServer([folder]);
try {
  await journey(
    async (page) => {
      await page.goto(server.address);
      // A long name takes the room of no other column.
      const lines = () =>
        page.locator(".files td:not(:first-child)").evaluateAll((cells) =>
          cells.map((cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return new Set([...range.getClientRects()].map(({ top }) => top)).size;
          }),
        );
      await becomes(lines, [1, 1, 1, 1, 1, 1]);
      await open(page, { file: "compare_step*_rank*_1.vis", step: 1, rank: 100 }, server.address);
      const cell = (step, rank) =>
        page.getByRole("button", { name: new RegExp(`^step ${step}, rank ${rank}:`) });
      await becomes(() => page.locator(".unit").count(), 256);
      // The cell of what is shown is in sight, and so is what stands below the map.
      const inSight = (element) =>
        element.evaluate((one) => {
          const { left, top } = one.getBoundingClientRect();
          return one.contains(document.elementFromPoint(left + 8, top + 8));
        });
      await becomes(() => inSight(cell(1, 100)), true);
      await becomes(() => inSight(page.locator(".divergence h2")), true);
      assert.equal(await page.locator(".unit[tabindex='0']").count(), 1);
      await cell(1, 100).focus();
      for (const key of ["Home", "ArrowRight"]) await page.keyboard.press(key);
      await becomes(() => cell(0, 1).evaluate((one) => one === document.activeElement), true);
      // It says what is wrong with it where it stands, and once it is chosen.
      assert.match(await cell(0, 1).getAttribute("title"), /rank 1: cannot be read: .*damaged/);
      assert.equal(await cell(0, 1).textContent(), "1!");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").waitFor();
      assert.match(await page.getByRole("alert").textContent(), /damaged.*compare_step0_rank1_1/);
      await page.getByRole("button", { name: "Show in Chinese" }).click();
      await page.getByText("文件已损坏或被截断，位于第").waitFor();
      await page.getByText("请重新构图或比对").waitFor();
      assert.match(await page.locator(".unit.damaged").getAttribute("title"), /无法读取：文件已损坏/);
      await page.getByRole("button", { name: "切换到英文" }).click();
      // Tried again it is this rank still.
      const again = page.waitForResponse((answer) => answer.url().includes("/open?"));
      await page.getByRole("button", { name: "Try again" }).click();
      assert.equal(new URL((await again).url()).searchParams.get("u"), "1");
      await page.getByRole("alert").waitFor();
      assert.equal(await cell(0, 1).getAttribute("aria-pressed"), "true");
      assert.equal(placeOf(page).get("rank"), "1");
      await cell(0, 2).click();
      await page.locator(".divergence-name").waitFor();
      assert.equal(placeOf(page).get("rank"), "2");
    },
    { expected: /422/ },
  );
} finally {
  await stopServer(server);
  rmSync(folder, { recursive: true });
}
