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

/**
 * Calls back when the person goes back, forward, or edits the address: of the window that holds the
 * place, as only that one is told.
 */
export function watchAddress(changed: () => void): void {
  const outer = outerWindow();
  const { window: watched } = outer ?? { window };
  const listen = () => {
    // An address without our place is that of another plugin.
    const ours = outer === null || new URLSearchParams(watched.location.search).has(outer.key);
    if (ours) changed();
  };
  const events = ["hashchange", "popstate"] as const;
  for (const event of events) watched.addEventListener(event, listen);
  if (outer === null) return;
  // The window around outlives the frame; a page that is kept for Back comes again as it was.
  window.addEventListener("pagehide", ({ persisted }) => {
    if (persisted) return;
    for (const event of events) watched.removeEventListener(event, listen);
  });
}

/** The address of the API, ending in a slash. */
export function apiAddress(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="msprobe-api"]')?.content;
  const base = window.msprobe?.api ?? (meta === undefined || meta === "" ? "api/" : meta);
  return base.endsWith("/") ? base : `${base}/`;
}
