// @vitest-environment happy-dom
import { h, render } from "preact";
import { expect, it, vi } from "vitest";
import { transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import type { EmbeddedBrief, Role } from "../api/types";
import { parsePlace } from "../model/place";
import { App } from "../state/app";
import { DivergenceCard, shortFrame } from "./divergence_card";
import { handleKey } from "./keyboard";

it("shortens a frame to file, line and code", () => {
  expect(
    shortFrame("File /a/b c/attention.py, line 84, in forward, \n w = softmax(x, dim=-1)"),
  ).toBe("attention.py:84  w = softmax(x, dim=-1)");
  expect(shortFrame("File C:\\x\\m.py, line 3, in <module>")).toBe("m.py:3");
});

it("keeps what it does not know", () => {
  expect(shortFrame("anything else")).toBe("anything else");
  expect(shortFrame("")).toBe("");
});

it("leads to the first difference where no node is to blame, and says why it cannot be decided", async () => {
  const data = transformer("f", 4, 1);
  const [unit] = data.units;
  const nodes = unit?.target ?? [];
  const details = unit?.details.t ?? {};
  const apis = nodes.filter(({ kind }) => kind === "api");
  const change = (node: EmbeddedBrief | undefined, values: Partial<EmbeddedBrief>) =>
    Object.assign(node ?? {}, values);
  for (const node of nodes) change(node, { role: node.role === "" ? "" : ("victim" as Role) });
  // What cannot be read may agree; what comes after is not the first.
  change(apis[0], { role: "undecidable", status: "unreadable" });
  for (const node of apis.slice(1, 3)) change(node, { role: "undecidable", status: "error" });
  const first = apis[1];
  const reason = "it has no partner, and what it took cannot be traced";
  Object.assign(details[String(first?.id)] ?? {}, { reason });
  const app = new App(new EmbeddedSource(data));
  await app.show(parsePlace("file=f"));
  render(h(DivergenceCard, { app }), document.body);
  expect(await app.suspects.goToCulprit()).toBe(true);
  expect(app.navigation.selected.value?.name).toBe(first?.name);
  await new Promise((drawn) => setTimeout(drawn, 20));
  const said = document.querySelector(".divergence")?.textContent;
  expect(said).toContain("First difference");
  expect(said).toContain(first?.name);
  expect(said).toContain(reason);
  expect(said).toContain("Of 3 nodes it could not be decided");
  expect(said).not.toContain("not recorded");
});

it("takes a collective without a culprit for the first difference, and an error where nothing else differs", async () => {
  const data = transformer("f", 4, 1);
  const nodes = data.units[0]?.target ?? [];
  const apis = nodes.filter(({ kind }) => kind === "api");
  for (const node of nodes) Object.assign(node, { role: "", status: "pass" });
  const collection = nodes.find(({ kind }) => kind === "collection");
  Object.assign(collection ?? {}, { status: "error" });
  Object.assign(apis[3] ?? {}, { status: "error" });
  const first = async () =>
    (await new EmbeddedSource(data).divergence({ file: "f", u: 0 })).first_difference?.name;
  expect(await first()).toBe(apis[3]?.name);
  Object.assign(apis[5] ?? {}, { role: "collective" });
  expect(await first()).toBe(apis[5]?.name);
});

it("leads from a rank that is fine to the one where the whole run diverges first", async () => {
  // Of the four ranks of a step the third and the fourth have a culprit.
  const app = new App(new EmbeddedSource(transformer("f", 4, 4, 2)));
  await app.show(parsePlace("file=f&step=1&rank=0"));
  const drawn = async () => {
    render(h(DivergenceCard, { app }), document.body);
    await new Promise((done) => setTimeout(done, 20));
    return document.querySelector(".divergence")?.textContent ?? "";
  };
  expect(await drawn()).toContain(
    "The whole run diverges first in step 0, on 2 ranks; rank 2 is one of them.",
  );
  expect(document.querySelector(".divergence.none")).toBe(null);
  const key = new KeyboardEvent("keydown", { key: "f" });
  Object.defineProperty(key, "target", { value: document.body });
  handleKey(app, key);
  await vi.waitFor(() => expect(app.workspace.unit.value).toMatchObject({ step: 0, rank: 2 }));
  const culprit = app.suspects.divergence.value?.culprits[0]?.name;
  await vi.waitFor(() => expect(app.navigation.selected.value?.name).toBe(culprit));
  expect(culprit).toBeDefined();
  expect(await drawn()).not.toContain("whole run");
  await app.show(parsePlace("file=f&step=0&rank=3"));
  expect(await drawn()).toContain(
    "The whole run diverges first in step 0, on 2 ranks; rank 2 is one of them.",
  );
});
