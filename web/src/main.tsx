import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { EmbeddedSource } from "./api/embedded_source";
import { HttpSource } from "./api/http_source";
import { themeProperties } from "./base/theme";
import { handleKey } from "./panels/keyboard";
import { Page } from "./panels/page";
import { apiAddress } from "./state/address";
import { App } from "./state/app";
import { language, textSize, themeChoice } from "./state/preferences";
import "./styles/base.css";
import "./styles/tree.css";
import "./styles/panels.css";
import "./styles/detail.css";
import "./styles/pages.css";

const source = EmbeddedSource.fromPage(document) ?? new HttpSource(apiAddress());
const app = new App(source);
const root = document.documentElement;

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(prefersDark.matches);
prefersDark.addEventListener("change", (event) => {
  systemDark.value = event.matches;
});
effect(() => {
  const dark = themeChoice.value === "dark" || (themeChoice.value === "auto" && systemDark.value);
  const colors = app.workspace.bands.value.map((band) => band.color);
  const properties = themeProperties(dark ? "dark" : "light", colors);
  for (const [name, value] of Object.entries(properties)) root.style.setProperty(name, value);
  root.style.colorScheme = dark ? "dark" : "light";
});
effect(() => {
  root.lang = language.value === "zh" ? "zh-CN" : "en";
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
