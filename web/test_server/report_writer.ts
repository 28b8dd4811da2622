/** A report: the built page with its data inside, as `msprobe view --export` writes it. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddedData } from "../src/api/types";

export function reportText(page: string, data: EmbeddedData): string {
  const read = (name: string) => readFileSync(join(page, name), "utf8");
  // Data never ends its element: "<" is written as an escape of JSON.
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  return read("index.html")
    .replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, "")
    .replace(/<link[^>]*rel="stylesheet"[^>]*>/, () => `<style>${read("viewer.css")}</style>`)
    .replace(
      "</body>",
      () =>
        `<script type="application/json" id="msprobe-data">${json}</script>\n` +
        `<script type="module">${read("viewer.js")}</script>\n</body>`,
    );
}

export function writeReport(page: string, file: string, data: EmbeddedData): void {
  writeFileSync(file, reportText(page, data));
}
