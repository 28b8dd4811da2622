// The address holds file, unit, node, filter, colouring and linking, and brings them back.
import assert from "node:assert/strict";
import { becomes, CULPRIT, inFrame, journey, open, placeOf, RUN, row, selected } from "./page.mjs";

await journey(async (page, context) => {
  await open(page, { file: RUN, step: 0, rank: 3 });
  await page.locator(".divergence-name").waitFor();
  await page.keyboard.press("f");
  await becomes(() => selected(page), CULPRIT);
  await page.locator(".band", { hasText: "0.4 – 0.6" }).click();
  await page.getByLabel("colour").selectOption("status");
  await becomes(() => placeOf(page).get("colour"), "status");
  const shared = page.url();
  if (!process.env.MSPROBE_INSIDE) assert.equal(await page.title(), `${RUN} · step 0 rank 3 · msprobe`);
  const other = inFrame(await context.newPage());
  await other.goto(shared);
  await becomes(() => selected(other), CULPRIT);
  await row(other, CULPRIT).waitFor();
  assert.equal(await other.getByLabel("colour").inputValue(), "status");
  await other.locator('.chip[aria-pressed="true"]', { hasText: "0.4 – 0.6" }).waitFor();
  // Step, micro step, sides on their own, a node and a list of the golden side.
  await open(page, { file: RUN, step: 1, rank: 2 });
  await page.getByLabel("micro step").selectOption("1");
  await becomes(() => placeOf(page).get("micro"), "1");
  await page.getByRole("button", { name: "linked" }).click();
  await becomes(() => page.locator(".tree").count(), 2);
  await page.locator(".band", { hasText: "unmatched golden" }).click();
  await becomes(() => placeOf(page).get("of"), "g");
  await other.goto(page.url());
  await other.reload();
  await becomes(() => other.locator(".tree").count(), 2);
  const chosen = (label) => other.getByLabel(label, { exact: true }).inputValue();
  assert.deepEqual([await chosen("step"), await chosen("rank"), await chosen("micro step")], ["1", "2", "1"]);
  await other.locator('.band[aria-pressed="true"]', { hasText: "unmatched golden" }).waitFor();
  await open(page, { file: RUN, step: 0, rank: 3, node: `${CULPRIT}.forward` });
  // Two tabs on two files do not disturb each other.
  await open(other, { file: "build_one.vis" });
  await page.reload();
  await becomes(() => selected(page), CULPRIT);
  await becomes(() => row(other, "decoder").count(), 1);
});
