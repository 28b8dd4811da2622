// Steps, ranks and micro steps; the same node on another rank; peers of a collective.
import assert from "node:assert/strict";
import { becomes, CULPRIT, journey, open, placeOf, RUN, rows, selected } from "./page.mjs";

await journey(async (page) => {
  await open(page, { file: RUN });
  assert.equal(await page.locator(".unit").count(), 16);
  const fill = (name) =>
    page.getByRole("button", { name }).evaluate((cell) => getComputedStyle(cell).backgroundColor);
  assert.notEqual(await fill(/step 0, rank 3/), await fill(/step 0, rank 0/));
  // A rank without overflow has a legend of its colours all the same.
  await page.getByLabel("colour").selectOption("overflow");
  const legend = () => page.locator(".band").allTextContents();
  const levels = ["critical", "high", "medium"].map((level) => `overflow: ${level}0`);
  await becomes(legend, levels);
  await page.getByLabel("colour").selectOption("index");
  await page.getByRole("button", { name: /step 0, rank 3/ }).click();
  await page.locator(".divergence-name").waitFor();
  await page.keyboard.press("f");
  await becomes(() => selected(page), CULPRIT);
  // The runs of all ranks stand side by side: a click goes to that rank, to that place.
  const strip = page.locator(".rank-strips button").nth(7);
  const { height } = await strip.locator("i").boundingBox();
  await strip.click({ position: { x: 3, y: height * 0.17 } });
  await becomes(() => placeOf(page).get("rank"), "7");
  const index = () => page.locator(".line.row.selected .gutter").first().textContent();
  await becomes(async () => Number(await index()) >= 0.8, true);
  // They follow what the colours mean.
  const colours = () => strip.locator("i").evaluate((run) => run.style.background);
  await becomes(async () => (await colours()).includes("--mark-band-4"), true);
  await page.getByLabel("colour").selectOption("status");
  await becomes(async () => (await colours()).includes("--mark-error"), true);
  await becomes(async () => (await colours()).includes("--mark-band"), false);
  await page.getByLabel("colour").selectOption("index");
  await open(page, { file: RUN, step: 0, rank: 3, node: `${CULPRIT}.forward` });
  await becomes(() => selected(page), CULPRIT);
  await page.getByLabel("rank", { exact: true }).selectOption("7");
  await becomes(() => placeOf(page).get("rank"), "7");
  await becomes(() => selected(page), CULPRIT);
  await page.goBack();
  await becomes(() => placeOf(page).get("rank"), "3");
  await becomes(() => page.getByLabel("rank", { exact: true }).inputValue(), "3");
  await becomes(() => selected(page), CULPRIT);
  await open(page, { file: RUN, step: 0, rank: 3, node: "Distributed.all_reduce.0.forward" });
  await page.getByRole("tab", { name: "Other ranks" }).click();
  await page.locator(".peers tr", { hasText: "2" }).getByRole("button").first().click();
  await becomes(() => placeOf(page).get("rank"), "2");
  await page.getByLabel("step", { exact: true }).selectOption("1");
  await page.getByLabel("micro step").waitFor();
  await becomes(async () => (await rows(page)).filter((row) => row.startsWith("embedding")).length, 2);
  await page.getByLabel("micro step").selectOption("1");
  await becomes(async () => (await rows(page)).filter((row) => row.startsWith("embedding")).length, 1);
});
