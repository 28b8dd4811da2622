// The page that `msprobe compare --format html` writes, opened from disk.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { journey, picture } from "./page.mjs";

const sample = fileURLToPath(new URL("../../../examples/sample/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "msprobe-compare-"));
try {
  const sides = [join(sample, "target"), join(sample, "golden")];
  execFileSync(process.env.MSPROBE_CLI, ["compare", ...sides, "-o", folder, "--format", "html"]);
  const [name] = readdirSync(folder);
  await journey(async (page) => {
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(pathToFileURL(join(folder, name)).href);
    assert.equal(await page.locator("h1").textContent(), "Verdict: diverged");
    const culprits = page.locator("ol > li");
    assert.equal(await culprits.count(), 1);
    assert.equal(await culprits.locator("code").first().textContent(), "Tensor.mul.1.forward");
    const reason = "argument `1` is 1.0, golden's is 0.25";
    assert.ok((await culprits.innerText()).includes(reason), await culprits.innerText());
    await picture(page, "compare_page");
    // All that is folded away can be opened without a script.
    await page.getByText("stack", { exact: true }).click();
    await page.locator("ol pre").waitFor();
    await page.getByText("list", { exact: true }).click();
    const victims = page.locator("details td code");
    await victims.first().waitFor();
    assert.equal(await page.evaluate(() => document.scripts.length), 0);
    assert.deepEqual(asked.filter((url) => !url.startsWith("file:")), []);
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
