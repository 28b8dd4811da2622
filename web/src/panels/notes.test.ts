// @vitest-environment happy-dom
import { h, render } from "preact";
import { afterEach, expect, it } from "vitest";
import { transformer } from "../../test_server/graphs";
import { EmbeddedSource } from "../api/embedded_source";
import { ApiError } from "../api/source";
import { parsePlace } from "../model/place";
import { App, sentence } from "../state/app";
import { language } from "../state/preferences";
import { Notes } from "./notes";

afterEach(() => {
  language.value = "en";
});

it("says which saved pairs do not apply, in either language", async () => {
  const data = transformer("f", 4, 1);
  const note =
    "1 of 2 saved matches do not apply here, as their nodes are missing or have partners already; they stay saved";
  const broken =
    "the saved matches cannot be read: broken JSON, line 1, column 2; correct the file; it must be JSON, # and // begin comments: /tmp/a.vis.matches.json";
  const app = new App(
    new EmbeddedSource({ ...data, open: { ...data.open, notes: [note, broken] } }),
  );
  await app.show(parsePlace("file=f"));
  render(h(Notes, { app }), document.body);
  const said = () => [...document.querySelectorAll(".notes li")].map((item) => item.textContent);
  expect(said()).toEqual([note, broken]);
  language.value = "zh";
  await new Promise((drawn) => setTimeout(drawn, 20));
  expect(said()[0]).toMatch(/^1 个已保存的匹配（共 2 个）/);
  expect(said()[1]).toBe(
    "无法读取已保存的手动匹配：JSON 有误，第 1 行第 2 列；请修正该文件；应为 JSON，# 与 // 之后为注释：/tmp/a.vis.matches.json",
  );
});

it("names the file that an action failed on", () => {
  const broken = new ApiError(400, "broken JSON, line 1, column 2", "", "/tmp/a.matches.json");
  expect(sentence(broken)).toBe("broken JSON, line 1, column 2 (/tmp/a.matches.json)");
  language.value = "zh";
  expect(sentence(broken)).toBe("JSON 有误，第 1 行第 2 列（/tmp/a.matches.json）");
});
