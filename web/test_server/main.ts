/** Runs the test server: `node server.mjs PAGE_FOLDER PORT`; prints its address. */

import type { AddressInfo } from "node:net";
import { startServer } from "./server";

const [page = "dist", port = "0"] = process.argv.slice(2);
const server = startServer(page);
server.listen(Number(port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
