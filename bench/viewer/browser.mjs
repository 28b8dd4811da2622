// What both drivers share: a fresh chromium, one page, and clocks inside the page.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("../../web/package.json", import.meta.url));
const { chromium } = createRequire(web)("playwright-core");

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  // The other page asks for fonts from the network, which would only wait.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];
const WHEEL_TICKS = 20;
/** Between two things that a person does. */
export const PAUSE_MS = 500;
/** How long something may take before it is given up. */
export const PATIENCE_MS = 10_000;
export const QUERIES = ["linear", "SOFTMAX", "layers.1", "mlp", "fc2", "no such name", "mat*.3", "backward", "view.1", "42"];

/** Runs in the page: notes the first frame in which `window.isDrawn()` holds, and frame times. */
function watchFrames() {
  window.frames_seen = [];
  const frame = (now) => {
    window.frames_seen.push(now);
    if (window.first_drawn === undefined && window.isDrawn?.() === true) window.first_drawn = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  // Milliseconds from `act()` to the first frame in which `done()` holds.
  window.measure = async (act, done, limit = 5_000) => {
    const start = performance.now();
    act();
    for (;;) {
      await new Promise((next) => requestAnimationFrame(next));
      if (done()) return performance.now() - start;
      if (performance.now() - start > limit) return Number.NaN;
    }
  };
}

export class Browser {
  static async start(isDrawn) {
    const self = new Browser();
    self.profile = mkdtempSync(join(tmpdir(), "msprobe-bench-browser-"));
    self.context = await chromium.launchPersistentContext(self.profile, {
      executablePath: process.env.MSPROBE_CHROMIUM ?? "/usr/bin/chromium",
      headless: true,
      args: FLAGS,
      viewport: { width: 1440, height: 900 },
    });
    self.context.setDefaultTimeout(120_000);
    await self.context.addInitScript(`(${watchFrames})(); window.isDrawn = ${isDrawn};`);
    self.page = self.context.pages()[0] ?? (await self.context.newPage());
    self.protocol = await self.context.newCDPSession(self.page);
    await self.protocol.send("Performance.enable");
    self.heap = 0;
    return self;
  }

  /** Milliseconds from the start of the navigation until the frame in which the graph is drawn. */
  async open(url) {
    await this.page.goto("about:blank");
    await this.page.goto(url, { waitUntil: "commit" });
    await this.page.waitForFunction(() => window.first_drawn !== undefined, null, { polling: 50 });
    await this.noteHeap();
    return this.page.evaluate(() => window.first_drawn);
  }

  /** The largest heap of the page seen so far, in bytes. */
  async noteHeap() {
    const { metrics } = await this.protocol.send("Performance.getMetrics");
    const used = metrics.find((metric) => metric.name === "JSHeapUsedSize")?.value ?? 0;
    this.heap = Math.max(this.heap, used);
  }

  /** Ticks of the wheel as fast as the page takes them: milliseconds until all is drawn, frames a second. */
  async wheel(x, y, settled) {
    await this.page.mouse.move(x, y);
    await this.page.waitForTimeout(300);
    const start = await this.page.evaluate(() => performance.now());
    for (let i = 0; i < WHEEL_TICKS; i += 1) await this.page.mouse.wheel(0, 120);
    const took = await this.page.evaluate(
      async ([begin, condition]) => {
        const isSettled = new Function(`return (${condition})();`);
        do await new Promise((next) => requestAnimationFrame(next));
        while (!isSettled());
        return performance.now() - begin;
      },
      [start, String(settled)],
    );
    await this.noteHeap();
    const frames = await this.page.evaluate(
      ([begin, end]) => window.frames_seen.filter((at) => at >= begin && at <= end),
      [start, start + took],
    );
    const gaps = frames.slice(1).map((at, i) => at - frames[i]);
    const longest = Math.max(...gaps, 0);
    return { took, rate: (gaps.length * 1000) / (frames.at(-1) - frames[0]), longest };
  }

  async end() {
    await this.context.close();
    rmSync(this.profile, { recursive: true, force: true });
  }
}
