// What TensorBoard loads into the tab's frame: tells the page where its API is, then starts it.
export function render() {
  window.msprobe = { api: new URL("./api/", import.meta.url).href, plugin: "msprobe" };
  document.documentElement.lang = "en";
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("./viewer.css", import.meta.url).href;
  document.head.append(style);
  return import("./viewer.js");
}
