// A long loading shows how far it is and can be cancelled; what cannot be shown says why.
import assert from "node:assert/strict";
import { at, becomes, journey, picture, row } from "./page.mjs";

await journey(
  async (page) => {
    await page.goto(at({ file: "slow.vis" }));
    await page.locator("progress").waitFor();
    await page.getByText(/Reading the file … \d+ %/).waitFor();
    await picture(page, "loading");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "Files" }).waitFor();
    await page.getByRole("button", { name: "slow.vis" }).click();
    await row(page, "decoder").waitFor();
    await page.goto(at({ file: "gone.vis" }));
    await page.getByRole("alert").waitFor();
    assert.match(await page.getByRole("alert").textContent(), /no such file.*choose one of the list/);
    await page.getByRole("alert").getByRole("button", { name: "All files" }).click();
    await becomes(() => page.getByRole("alert").count(), 0);
  },
  { expected: /404/ },
);
