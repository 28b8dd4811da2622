/**
 * Runs the test server: `node server.mjs PAGE_FOLDER PORT`; prints its address.
 * `node server.mjs --vis FOLDER` writes its graphs as files for `msprobe view`, and
 * `node server.mjs --report PAGE_FOLDER FILE` one of them as a page that needs no server.
 */

import type { AddressInfo } from "node:net";
import { transformer } from "./graphs";
import { writeReport } from "./report_writer";
import { MAKERS, startServer } from "./server";
import { writeVis } from "./vis_writer";

const [first = "dist", second = "0", third = "report.html"] = process.argv.slice(2);
if (first === "--vis") {
  for (const [file, make] of Object.entries(MAKERS)) writeVis(second, file, make(file));
} else if (first === "--report") {
  writeReport(second, third, transformer("report.vis", 4, 4));
} else {
  const server = startServer(first);
  server.listen(Number(second), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });
}
