// A browser on the viewer, for one journey: `node journey.mjs ADDRESS [FOLDER_FOR_PICTURES]`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
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
export const pictures = process.argv[3];

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
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** The address of a place in the viewer. */
export function at(place) {
  return `${address}#${new URLSearchParams(place)}`;
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

export function row(page, label) {
  return page.locator(".line.row", { has: page.locator(".label", { hasText: label }) }).first();
}
