// A browser on the viewer, for one journey: `node journey.mjs ADDRESS`.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("../../../web/package.json", import.meta.url));
const { chromium } = createRequire(web)("playwright-core");

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const address = process.argv[2];
export const RUN = "compare_step*_rank*_20261129.vis";
export const CULPRIT = "Functional.softmax.1";

/** Runs a journey in a fresh browser; what the page logs as an error fails it. */
export async function journey(steps, options = {}) {
  const profile = mkdtempSync(join(tmpdir(), "msprobe-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.MSPROBE_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: FLAGS,
    viewport: { width: 1280, height: 720 },
    locale: "en-GB",
    ...options,
  });
  context.setDefaultTimeout(20_000);
  const problems = [];
  const watch = (page) => {
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => {
      const expected = options.expected?.test(message.text()) ?? false;
      if (message.type() === "error" && !expected) problems.push(message.text());
    });
  };
  context.on("page", watch);
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    watch(page);
    await steps(page, context);
    assert.deepEqual(problems, []);
  } catch (error) {
    await picture(context.pages()[0], "failed").catch(() => undefined);
    throw error;
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** The address of a place in the viewer. */
export function at(place) {
  return `${address}#${new URLSearchParams(place)}`;
}

export async function open(page, place) {
  await page.goto(at(place));
  await page.locator(".box:not(.waiting)").first().waitFor();
}

/** Rows in sight as `target | gutter | golden`. */
export function rows(page) {
  return page.locator(".line.row").evaluateAll((lines) =>
    lines.map((line) =>
      [...line.children]
        .map((part) => part.querySelector(".label")?.textContent ?? (part.textContent || "-"))
        .join(" | "),
    ),
  );
}

/** The row in which a node of this label stands. */
export function row(page, label) {
  const exact = page.locator(`.label:text-is(${JSON.stringify(label)})`);
  return page.locator(".line.row", { has: exact }).first();
}

export async function selected(page) {
  await page.locator(".detail .node-name").waitFor();
  return page.locator(".breadcrumb > :last-child").textContent();
}

/** Waits until a question about the page has the expected answer. */
export async function becomes(question, expected) {
  let answer;
  for (let i = 0; i < 200; i += 1) {
    answer = await question();
    if (JSON.stringify(answer) === JSON.stringify(expected)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.deepEqual(answer, expected);
}

/** A picture for the guide. */
export async function picture(page, name) {
  const folder = process.env.MSPROBE_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
