// Who may only read sees all; a match that cannot be saved is refused, and nothing changes.
import assert from "node:assert/strict";
import { becomes, journey, open, row, selected, startServer, stopServer } from "./page.mjs";

const server = await startServer([process.env.MSPROBE_READ_ONLY]);
try {
  await journey(
    async (page) => {
      await open(page, { node: "Functional.dropout.0.forward", side: "g" }, server.address);
      await becomes(() => selected(page), "Functional.dropout.0");
      await page.getByRole("button", { name: "Match by hand" }).click();
      await page.locator(".band", { hasText: "unmatched target" }).click();
      await page.locator(".node-list .item").first().click();
      await becomes(() => selected(page), "Tensor.mul_.0");
      await page.getByRole("button", { name: "Match", exact: true }).click();
      await page.locator(".notice").waitFor();
      assert.match(await page.locator(".notice").textContent(), /cannot|permission/i);
      await page.reload();
      await row(page, "Tensor.mul_.0").locator(".gutter.none").waitFor();
      assert.equal(await page.getByText("Matched by hand: 1").count(), 0);
    },
    { expected: /Failed to load resource/ },
  );
} finally {
  await stopServer(server);
}
