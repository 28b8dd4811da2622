// Dumps are compared when they are opened: the page shows how far that is, and it can be cancelled.
import assert from "node:assert/strict";
import { journey, row, startServer, stopServer } from "./page.mjs";

const [target, golden] = JSON.parse(process.env.MSPROBE_DUMPS);
const server = await startServer([target, "--golden", golden]);
try {
  await journey(async (page) => {
    // A fast machine is ready soon: the page is not told so before it has cancelled.
    let cancelled = () => undefined;
    const cancelling = new Promise((done) => {
      cancelled = done;
    });
    await page.route("**/api/open?*", async (route) => {
      if (route.request().method() !== "GET") return route.continue();
      const response = await route.fetch();
      if ((await response.json()).state === "ready") await cancelling;
      await route.fulfill({ response }).catch(() => undefined);
    });
    await page.goto(server.address);
    await page.getByText(/Comparing … \d+ %/).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "Files" }).waitFor();
    cancelled();
    await page.locator(".files button").click();
    await row(page, "layers.0").waitFor();
    assert.ok((await page.locator(".gutter").count()) > 3);
  });
} finally {
  await stopServer(server);
}
