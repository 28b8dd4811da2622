import { effect } from "@preact/signals";
import { render } from "preact";
import { EmbeddedSource } from "./api/embedded_source";
import { HttpSource } from "./api/http_source";
import { themeProperties } from "./base/theme";
import { handleKey } from "./panels/keyboard";
import { Page } from "./panels/page";
import { apiAddress } from "./state/address";
import { App } from "./state/app";
import { pageTitle } from "./state/page_title";
import { dark, language, textSize } from "./state/preferences";
import "./styles/base.css";
import "./styles/tree.css";
import "./styles/panels.css";
import "./styles/detail.css";
import "./styles/pages.css";

const source = EmbeddedSource.fromPage(document) ?? new HttpSource(apiAddress());
const app = new App(source);
const root = document.documentElement;

effect(() => {
  const theme = dark.value ? "dark" : "light";
  const colors = app.workspace.bands.value.map((band) => band.color);
  const properties = themeProperties(theme, colors);
  for (const [name, value] of Object.entries(properties)) root.style.setProperty(name, value);
  root.style.colorScheme = theme;
});
effect(() => {
  root.lang = language.value === "zh" ? "zh-CN" : "en";
});
effect(() => {
  document.title = pageTitle(app.workspace);
});
effect(() => {
  root.style.setProperty("--text-size", String(textSize.value / 100));
});

let place = document.getElementById("msprobe");
if (place === null) {
  place = document.createElement("div");
  place.id = "msprobe";
  document.body.append(place);
}
render(<Page app={app} />, place);
document.addEventListener("keydown", (event) => handleKey(app, event));
app.start();
