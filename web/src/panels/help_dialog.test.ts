// @vitest-environment happy-dom
import { h, render } from "preact";
import { expect, it } from "vitest";
import { transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import { parsePlace } from "../model/place";
import { App } from "../state/app";
import { HelpDialog } from "./help_dialog";

it("lists all keys and all signs of a comparison", async () => {
  const app = new App(new EmbeddedSource(transformer("f", 4, 1)));
  await app.show(parsePlace("file=f"));
  app.helpOpen.value = true;
  render(h(HelpDialog, { app }), document.body);
  const keys = [...document.querySelectorAll("kbd")].map(({ textContent }) => textContent);
  expect(keys).toEqual(expect.arrayContaining(["Space", "Esc", "*", "f", "p", "c", "?"]));
  const signs = [...document.querySelectorAll(".signs-list i")].map((one) => one.textContent);
  expect(signs).toEqual(expect.arrayContaining(["diverges", "elsewhere", "backward", "overflow"]));
});
