// Where there is nothing to see the page says why, and what to do.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { journey, startServer, stopServer } from "./page.mjs";

const folder = mkdtempSync(join(tmpdir(), "msprobe-empty-"));
const server = await startServer([folder]);
try {
  await journey(async (page) => {
    await page.goto(server.address);
    await page.locator(".card").waitFor();
    assert.match(await page.locator(".card").textContent(), /msprobe graph.*msprobe view/s);
  });
} finally {
  await stopServer(server);
  rmSync(folder, { recursive: true });
}
