// The first rank of a run is damaged: the map says so, and all others are within reach, also by address.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { at, becomes, journey, open, placeOf, row, startServer, stopServer } from "./page.mjs";

const sample = new URL("../../../examples/sample/target/step0/rank0", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "msprobe-damaged-"));
const rank = (number) => join(folder, "step0", `rank${number}`);
for (const number of [0, 1, 2]) cpSync(fileURLToPath(sample), rank(number), { recursive: true });
writeFileSync(join(rank(0), "dump.json"), "[]");

const server = await startServer([folder]);
try {
  await journey(
    async (page) => {
      const cell = (number) =>
        page.getByRole("button", { name: new RegExp(`^step 0, rank ${number}:`) });
      await page.goto(server.address);
      await page.getByRole("alert").waitFor();
      assert.match(await page.getByRole("alert").textContent(), /not a dump\.json.*rank0/);
      assert.match(await cell(0).getAttribute("title"), /cannot be read/);
      assert.equal(await page.locator(".unit.damaged").count(), 1);
      // The map goes on to be filled while one looks at it.
      await becomes(async () => /being read/.test(await cell(2).getAttribute("title")), false);
      await cell(1).click();
      await row(page, "layers.0").waitFor();
      assert.equal(placeOf(page).get("rank"), "1");
      // Back leads to what was shown before, also where that was a reason.
      await page.goBack();
      await page.getByRole("alert").waitFor();
      await becomes(() => cell(0).getAttribute("aria-pressed"), "true");
      await page.goto("about:blank");
      await open(page, { file: ".", step: 0, rank: 2 }, server.address);
      await becomes(() => cell(2).getAttribute("aria-pressed"), "true");
      await page.goto("about:blank");
      // The address keeps what was asked for, to be tried again.
      await page.goto(at({ file: ".", step: 0, rank: 0, node: "gone" }, server.address));
      await page.getByRole("alert").waitFor();
      assert.equal(placeOf(page).get("node"), "gone");
    },
    { expected: /400/ },
  );
} finally {
  await stopServer(server);
  rmSync(folder, { recursive: true });
}
