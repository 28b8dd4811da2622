/**
 * Where the page's place stands: in its own address, or, inside TensorBoard, in the address of the
 * window around it (the frame's own address cannot be seen or shared).
 */

declare global {
  interface Window {
    /** Set by who embeds the page: where the API is, and under which name to keep the place. */
    msprobe?: { api?: string; plugin?: string };
  }
}

function outerWindow(): { window: Window; key: string } | null {
  const plugin = window.msprobe?.plugin;
  if (plugin === undefined || window.parent === window) return null;
  try {
    void window.parent.location.href;
    return { window: window.parent, key: `p.${plugin}.place` };
  } catch {
    return null; // Embedded by a page of another origin.
  }
}

export function readAddress(): string {
  const outer = outerWindow();
  if (outer === null) return window.location.hash;
  return new URLSearchParams(outer.window.location.search).get(outer.key) ?? "";
}

export function writeAddress(place: string, push: boolean): void {
  const outer = outerWindow();
  const { location, history } = outer?.window ?? window;
  let address = `${location.pathname}${location.search}#${place}`;
  if (outer !== null) {
    const query = new URLSearchParams(location.search);
    query.set(outer.key, place);
    address = `${location.pathname}?${query}${location.hash}`;
  }
  if (push) history.pushState(history.state, "", address);
  else history.replaceState(history.state, "", address);
}

/** Calls back when the person goes back, forward, or edits the address. */
export function watchAddress(changed: () => void): void {
  window.addEventListener("hashchange", changed);
  window.addEventListener("popstate", changed);
}

/** The address of the API, ending in a slash. */
export function apiAddress(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="msprobe-api"]')?.content;
  const base = window.msprobe?.api ?? (meta === undefined || meta === "" ? "api/" : meta);
  return base.endsWith("/") ? base : `${base}/`;
}
