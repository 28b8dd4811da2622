// A browser on the viewer, for one journey: `node journey.mjs ADDRESS`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
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
/** Whether the viewer is a tab of TensorBoard: then it stands in a frame of its page. */
const IN_TENSORBOARD = process.env.MSPROBE_INSIDE === "tensorboard";
const PLACE = "p.msprobe.place";
const FRAME = 'iframe[src*="name=msprobe"]';
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
      const foreign = IN_TENSORBOARD && !message.location().url.includes("/plugin/msprobe/");
      const expected = foreign || (options.expected?.test(message.text()) ?? false);
      if (message.type() === "error" && !expected) problems.push(message.text());
    });
  };
  context.on("page", watch);
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    watch(page);
    await steps(inFrame(page), context);
    assert.deepEqual(problems, []);
  } catch (error) {
    await picture(context.pages()[0], "failed").catch(() => undefined);
    throw error;
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** In TensorBoard: the page, but what is looked for is looked for in the viewer's frame. */
export function inFrame(page) {
  if (!IN_TENSORBOARD) return page;
  const frame = page.frameLocator(FRAME);
  const inside = new Set(["locator", "getByRole", "getByText", "getByLabel"]);
  const evaluate = async (question, argument) => {
    const element = await page.locator(FRAME).elementHandle();
    return (await element.contentFrame()).evaluate(question, argument);
  };
  return new Proxy(page, {
    get(target, name) {
      if (name === "evaluate") return evaluate;
      const owner = inside.has(name) ? frame : target;
      const value = owner[name];
      return typeof value === "function" ? value.bind(owner) : value;
    },
  });
}

/** The address of a place in the viewer. */
export function at(place, base = address) {
  const text = String(new URLSearchParams(place));
  if (!IN_TENSORBOARD) return `${base}#${text}`;
  return `${base}?${new URLSearchParams({ [PLACE]: text })}#msprobe`;
}

/** What the address says of the place. */
export function placeOf(page) {
  const url = new URL(page.url());
  return new URLSearchParams(
    IN_TENSORBOARD ? (url.searchParams.get(PLACE) ?? "") : url.hash.slice(1),
  );
}

export async function open(page, place, base = address) {
  await page.goto(at(place, base));
  await page.locator(".box:not(.waiting)").first().waitFor();
  await takeKeys(page);
}

/** Keys go to the viewer, as after a click into it. */
export async function takeKeys(page) {
  if (IN_TENSORBOARD) await page.evaluate(() => window.focus());
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
  // Not `:text-is`, which looks at no text of elements inside: a long name is in two parts.
  const hasText = new RegExp(`^${label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
  return page.locator(".line.row", { has: page.locator(".label", { hasText }) }).first();
}

export async function selected(page) {
  await page.locator(".detail .node-name").waitFor();
  return page.locator(".breadcrumb > :last-child").textContent();
}

/** A `msprobe view` of the journey's own. */
export async function startServer(options) {
  const server = spawn(process.env.MSPROBE_CLI, ["view", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await new Promise((ready) => server.stdout.once("data", ready));
  return { server, address: String(line).trim() };
}

export async function stopServer({ server }) {
  const ended = new Promise((done) => server.once("exit", done));
  server.kill("SIGTERM");
  await ended;
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

/** A picture for the guide, and with `chinese` the same for the Chinese one. */
export async function picture(page, name, { chinese = false } = {}) {
  const folder = process.env.MSPROBE_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.evaluate(() => document.fonts.ready);
  // Messages go away by themselves, sooner or later.
  await page.locator(".notice").waitFor({ state: "detached" }).catch(() => undefined);
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  if (!chinese || IN_TENSORBOARD) return;
  const turn = (from, to) =>
    page.evaluate((label) => document.querySelector(`[aria-label="${label}"]`).click(), from).then(() =>
      page.locator(`[aria-label="${to}"]`).waitFor(),
    );
  await turn("Show in Chinese", "切换到英文");
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(folder, `${name}.zh.png`) });
  await turn("切换到英文", "Show in Chinese");
}
