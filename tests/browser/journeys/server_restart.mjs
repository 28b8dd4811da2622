// The server ends and comes back: the page says so, waits, and goes on.
import { spawn } from "node:child_process";
import { becomes, CULPRIT, journey, RUN, row, selected } from "./page.mjs";

const [program, ...options] = JSON.parse(process.env.MSPROBE_SERVER);
const address = process.env.MSPROBE_SERVER_ADDRESS;

async function start() {
  const server = spawn(program, options, { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((ready) => server.stdout.once("data", ready));
  return server;
}

async function stop(server) {
  const ended = new Promise((done) => server.once("exit", done));
  server.kill("SIGTERM");
  await ended;
}

let server = await start();
try {
  await journey(
    async (page) => {
      await page.goto(`${address}#${new URLSearchParams({ file: RUN, step: 0, rank: 3 })}`);
      await row(page, "decoder").waitFor();
      await page.locator(".divergence-name").waitFor();
      await stop(server);
      await page.keyboard.press("f");
      await page.getByRole("alert").waitFor();
      server = await start();
      await becomes(() => page.getByRole("alert").count(), 0);
      await becomes(() => selected(page), CULPRIT);
    },
    { expected: /ERR_CONNECTION|Failed to load/ },
  );
} finally {
  await stop(server);
}
