// Hits while typing, on both sides; only the last query counts.
import assert from "node:assert/strict";
import { becomes, journey, open, picture, RUN, selected } from "./page.mjs";

await journey(async (page) => {
  await open(page, { file: RUN, step: 0, rank: 3 });
  const asked = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith("/search")) asked.push(url.searchParams.get("q"));
  });
  await page.keyboard.press("/");
  await page.keyboard.type("SOFTmax", { delay: 15 });
  await page.locator(".hits .item", { hasText: "Functional.softmax.5" }).first().waitFor();
  await becomes(() => asked.at(-1), "SOFTmax");
  await becomes(() => page.locator(".hits-count").textContent().then((text) => text.slice(0, 7)), "12 hits");
  await picture(page, "search", { chinese: true });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await becomes(() => selected(page), "Functional.softmax.1");
  // Faster than any answer.
  await page.keyboard.press("/");
  await page.keyboard.type("layers.4.attn");
  await page.keyboard.press("Enter");
  await becomes(() => selected(page), "attn");
  await becomes(() => page.locator(".hits").count(), 0);
  await page.keyboard.press("/");
  await page.keyboard.type("mat*.3.");
  await becomes(() => page.locator(".hits .item").count(), 2);
  // Names of calls hold no path: a star also stands for the boxes between.
  await page.locator("#search").fill("LAYERS.1*attn*soft");
  await becomes(() => page.locator(".hits .item").count(), 2);
  await picture(page, "search_path");
  await page.route("**/search?*", (route) =>
    route.fulfill({ status: 500, json: { error: { fact: "the search broke", advice: "", path: "" } } }),
  );
  await page.locator("#search").fill("what breaks");
  await page.locator(".hits-count", { hasText: "the search broke" }).waitFor();
  await page.unroute("**/search?*");
  await page.locator("#search").fill("nothing has this name");
  await becomes(() => page.locator(".hits-count").textContent().then((text) => text.slice(0, 6)), "0 hits");
  // The hits go away, the words stay.
  await page.keyboard.press("Escape");
  await becomes(() => page.locator(".hits").count(), 0);
  assert.equal(await page.locator("#search").inputValue(), "nothing has this name");
}, { expected: /status of 500/ });
