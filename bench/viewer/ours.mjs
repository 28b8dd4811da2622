// Measures our viewer on one file: `node ours.mjs ADDRESS FILE`; prints one JSON object, milliseconds and bytes.
import { Browser, PAUSE_MS, QUERIES } from "./browser.mjs";

const [address, file] = process.argv.slice(2);
const url = `${address}#${new URLSearchParams({ file })}`;

const isDrawn = () => document.querySelector(".line.row .box:not(.waiting)") !== null;
const isSettled = () => document.querySelector(".box.waiting") === null;

/** Opens closed boxes, one after the other, those deeper in the graph first. */
async function expand(pause) {
  const times = [];
  // A graph of one box is shown open.
  const only = document.querySelector('.line.row[aria-level="1"][aria-expanded="true"] .twist');
  if (only !== null) {
    await window.measure(
      () => only.click(),
      () => document.querySelector('.line.row[aria-level="2"]') === null,
    );
  }
  const closed = () => [...document.querySelectorAll('.line.row[aria-expanded="false"]')];
  while (times.length < 15 && closed().length > 0) {
    const row = closed().at(-1);
    const id = row.id;
    times.push(
      await window.measure(
        () => row.querySelector(".twist").click(),
        () =>
          document.getElementById(id)?.getAttribute("aria-expanded") !== "false" &&
          document.querySelector(".box.waiting") === null,
      ),
    );
    await new Promise((done) => setTimeout(done, pause));
    if (closed().length === 0) {
      // Nothing closed is in sight any more: further down.
      const tree = document.querySelector(".tree");
      tree.scrollTop += tree.clientHeight / 2;
      await window.measure(
        () => undefined,
        () => document.querySelector(".box.waiting") === null,
      );
    }
  }
  return times;
}

async function search(queries) {
  const input = document.getElementById("search");
  const type = (value) => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const count = () => document.querySelector(".hits-count")?.textContent ?? "";
  const times = [];
  for (const query of queries) {
    await window.measure(
      () => type(""),
      () => document.querySelector(".hits") === null,
    );
    times.push(
      await window.measure(
        () => type(query),
        () => /^0 /.test(count()) || document.querySelector(".hits .item:not(.waiting)") !== null,
      ),
    );
  }
  type("");
  document.body.dispatchEvent(new Event("pointerdown", { bubbles: true }));
  return times;
}

async function filter() {
  const times = [];
  for (let round = 0; round < 4; round += 1) {
    for (const button of document.querySelectorAll(".band")) {
      const { textContent: count } = button.querySelector(".count");
      if (count === "0" || button.getAttribute("aria-pressed") === "true") continue;
      times.push(
        await window.measure(
          () => button.click(),
          () =>
            button.getAttribute("aria-pressed") === "true" &&
            document.querySelector(".node-list .item:not(.waiting)") !== null,
        ),
      );
    }
  }
  return times;
}

/** Walks over suspicious nodes: boxes around them open, the place is scrolled to, values come. */
async function next(page) {
  const times = [];
  await page.locator(".tree").focus();
  for (let i = 0; i < 20; i += 1) {
    times.push(
      await page.evaluate(async () => {
        const chosen = () => document.querySelector(".line.row.selected")?.getAttribute("aria-label");
        const before = chosen();
        const key = new KeyboardEvent("keydown", { key: "n", bubbles: true });
        return window.measure(
          () => document.querySelector(".tree").dispatchEvent(key),
          () => chosen() !== undefined && chosen() !== before,
          3000,
        );
      }),
    );
  }
  return times.filter((time) => !Number.isNaN(time));
}

const browser = await Browser.start(isDrawn);
const { page } = browser;
const stage = (name) => process.env.MSPROBE_BENCH_TRACE && console.error(name, Math.round(performance.now()));
stage("open");
const first = await browser.open(url);
const again = [];
for (let i = 0; i < 3; i += 1) again.push(await browser.open(url));
stage("expand");
const expanded = await page.evaluate(expand, PAUSE_MS);
await browser.noteHeap();
stage("search");
// The 95th percentile of ten would be the slowest of them.
const searched = await page.evaluate(search, [...QUERIES, ...QUERIES, ...QUERIES, ...QUERIES]);
await browser.noteHeap();
stage("filter");
const filtered = await page.evaluate(filter);
await browser.noteHeap();
stage("next");
const walked = await next(page);
await page.locator(".tree").evaluate((tree) => {
  tree.scrollTop = 0;
});
const box = await page.locator(".tree").boundingBox();
stage("wheel");
const wheel = await browser.wheel(box.x + box.width / 3, box.y + box.height / 2, isSettled);
console.log(JSON.stringify({ first, again, expand: expanded, search: searched, filter: filtered, next: walked, wheel, heap: browser.heap }));
await browser.end();
