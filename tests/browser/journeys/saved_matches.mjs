// A file of saved pairs that is broken, or names nodes that are gone: the page says so, and where.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { journey, open, startServer, stopServer } from "./page.mjs";

const sample = (side) => fileURLToPath(new URL(`../../../examples/sample/${side}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "msprobe-saved-"));
const made = spawnSync(process.env.MSPROBE_CLI, ["graph", sample("target"), sample("golden"), "-o", folder]);
assert.equal(made.status, 0, String(made.stderr));
const saved = `${join(folder, readdirSync(folder).find((name) => name.endsWith(".vis")))}.matches.json`;
const gone = { units: [{ step: 0, rank: 0, matches: [[["Module.gone", "Module.away"]]] }] };

try {
  for (const [body, said] of [
    ["{bad", `the saved matches cannot be read: broken JSON.*${saved.replaceAll(".", "\\.")}`],
    [JSON.stringify(gone), "1 of 1 saved matches do not apply here"],
  ]) {
    writeFileSync(saved, body);
    const server = await startServer([folder]);
    try {
      await journey(async (page) => {
        await open(page, {}, server.address);
        await page.locator(".notes", { hasText: new RegExp(said) }).waitFor();
      });
    } finally {
      await stopServer(server);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
