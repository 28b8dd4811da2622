// Dumps of real data: both sides are called by their dumps, and values count units in the last place.
import assert from "node:assert/strict";
import { becomes, journey, row, selected, startServer, stopServer } from "./page.mjs";

const [target, golden] = JSON.parse(process.env.MSPROBE_REAL_DATA);
const server = await startServer([target, "--golden", golden]);
try {
  await journey(async (page) => {
    await page.goto(`${server.address}#node=Torch.mul.0.forward`);
    await becomes(() => selected(page), "Torch.mul.0");
    const heads = await page.locator(".tree-heads .from bdi").evaluateAll((all) => all.map((one) => one.title));
    assert.deepEqual(heads, [target, golden]);
    const counts = page.locator(".values tbody[aria-label=Outputs] .ulps");
    // Classes and counts, as the tables of `msprobe compare` have them.
    assert.equal(await counts.getAttribute("data-copy"), "0:1 1:1 2-3:1 1024+:1");
    assert.match(await counts.textContent(), /50% ≤ 1/);
    assert.match(await counts.getAttribute("title"), /1024\+: 1/);
    assert.equal(await counts.locator("i").count(), 8);
    // What has no units, as numbers that are no floats, has no counts.
    await row(page, "Torch.argmax.0").locator(".half.t").click();
    await becomes(() => selected(page), "Torch.argmax.0");
    await page.locator(".values").waitFor();
    await becomes(() => page.locator(".ulps").count(), 0);
  });
} finally {
  await stopServer(server);
}
