// Measures tb-graph-ascend on one file: `node plugin.mjs ADDRESS RUN`; prints the same object as ours.mjs.
import { Browser, PATIENCE_MS, PAUSE_MS, QUERIES } from "./browser.mjs";

const [address, run] = process.argv.slice(2);
const url = `${address}data/plugin/graph_ascend/index.html`;

/** Its parts live in shadow roots. */
const FIND = `window.findAll = (tag) => {
  const found = [];
  const walk = (node) => {
    for (const child of node.children ?? []) {
      if (child.tagName === tag) found.push(child);
      if (child.shadowRoot) walk(child.shadowRoot);
      walk(child);
    }
  };
  if (document.body) walk(document.body);
  return found;
};
window.graphRoots = () => findAll("GRAPH-HIERARCHY").map((graph) => graph.shadowRoot.querySelector("#root"));
window.isDrawn = () => {
  const roots = graphRoots();
  return roots.length > 1 && roots.every((root) => root?.children.length > 0);
};`;

async function expand([count, pause]) {
  const times = [];
  const opened = new Set();
  for (let i = 0; i < count; i += 1) {
    const root = graphRoots()[0];
    const texts = [...root.querySelectorAll("text")].filter((text) => {
      const name = text.getAttribute("name");
      return /___Module/.test(name) && !opened.has(name) && text.getBoundingClientRect().height > 0;
    });
    const text = texts.at(texts.length > 4 ? 3 : -1);
    if (text === undefined) break;
    opened.add(text.getAttribute("name"));
    const before = root.outerHTML;
    const options = { bubbles: true, composed: true };
    times.push(
      await window.measure(
        () => text.dispatchEvent(new MouseEvent("dblclick", options)),
        () => root.outerHTML !== before,
      ),
    );
    await new Promise((done) => setTimeout(done, pause));
  }
  return times.filter((time) => !Number.isNaN(time));
}

async function filter(patience) {
  const panel = findAll("TF-COLOR-SELECT")[0];
  const times = [];
  for (const box of [...panel.shadowRoot?.querySelectorAll("vaadin-checkbox") ?? [], ...panel.querySelectorAll("vaadin-checkbox")]) {
    const before = panel.precisionmenu;
    times.push(
      await window.measure(
        () => box.click(),
        () => panel.precisionmenu !== before,
        patience,
      ),
    );
    if (Number.isNaN(times.at(-1))) break; // what comes next would wait for this one
  }
  return times;
}

/** Its search: a tab that first loads the names of all nodes, and a field that filters them. */
async function search([queries, patience]) {
  const tab = findAll("GRAPH-CONTROLS-BOARD")[0].shadowRoot.querySelectorAll(".tab-button")[1];
  const box = () => findAll("TF-LINKAGE-SEARCH-COMBOX")[0];
  const loaded = () => box()?.nodelist !== undefined && (box().menuItem?.length ?? 0) > 0;
  const tap = new CustomEvent("tap", { bubbles: true, composed: true });
  const load = await window.measure(() => tab.dispatchEvent(tap), loaded, 4 * patience);
  if (Number.isNaN(load)) return { load, times: [] };
  const times = [];
  for (const query of queries) {
    const before = box().menuItem;
    const field = box().shadowRoot.querySelector("vaadin-text-field");
    times.push(
      await window.measure(
        () => {
          field.value = query;
          field.dispatchEvent(new CustomEvent("change", { bubbles: true, composed: true }));
        },
        () => box().menuItem !== before,
        patience,
      ),
    );
    if (Number.isNaN(times.at(-1))) break;
  }
  return { load, times };
}

const browser = await Browser.start(() => false);
await browser.context.addInitScript(FIND);
const { page } = browser;
const first = await browser.open(url);
const again = [await browser.open(url)];
await page.waitForTimeout(3000); // it goes on loading lists of names
const expanded = await page.evaluate(expand, [8, PAUSE_MS]);
await browser.noteHeap();
const filtered = await page.evaluate(filter, PATIENCE_MS);
await browser.noteHeap();
const searched = await page.evaluate(search, [QUERIES.slice(0, 5), PATIENCE_MS]);
await browser.noteHeap();
const box = await page.evaluate(() => {
  const { x, y, width, height } = findAll("GRAPH-HIERARCHY")[0].shadowRoot.querySelector("#graph").getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2 };
});
const wheel = await browser.wheel(box.x, box.y, () => true);
console.log(JSON.stringify({ run, first, again, expand: expanded, search: searched.times, names: searched.load, filter: filtered, next: [], wheel, heap: browser.heap }));
await browser.end();
