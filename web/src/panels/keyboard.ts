/** What keys do, wherever the focus is, except in fields that take text. */

import type { App } from "../state/app";
import { text } from "../state/language";
import { step } from "./side_panel";

const PAGE_STEP = 15;

function takesText(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input:not([type=checkbox]), select, textarea, dialog") !== null
  );
}

/** Keys that mean the same everywhere. */
function pageKeys(app: App): Record<string, () => void> {
  const { navigation, suspects } = app;
  return {
    "/": () => {
      const field = document.querySelector<HTMLInputElement>("#search");
      field?.focus();
      field?.select();
    },
    n: () => step(app, true),
    N: () => step(app, false),
    f: () =>
      void app.run(async () => {
        if ((await suspects.goToCulprit()) || (await app.goToFirst())) return;
        if (!app.workspace.comparison.value) app.say(text("divergence.single"));
        else if (suspects.divergence.value !== null) app.say(text("divergence.none"));
      }),
    p: () =>
      void app.run(async () => {
        const selected = navigation.selected.value;
        if (selected === null) return;
        const side = selected.side === "t" ? "g" : "t";
        if (selected[side] >= 0) await navigation.go({ side, id: selected[side] });
      }),
    c: () => {
      for (const view of app.workspace.views.value) view.closeAll();
    },
    "?": () => {
      app.helpOpen.value = true;
    },
    Escape: () => {
      app.matching.picked.value = null;
    },
  };
}

/** Keys that move in the tree. */
function treeKeys(app: App): Record<string, () => void> {
  const { navigation } = app;
  return {
    ArrowDown: () => navigation.move(1),
    ArrowUp: () => navigation.move(-1),
    PageDown: () => navigation.move(PAGE_STEP),
    PageUp: () => navigation.move(-PAGE_STEP),
    ArrowRight: () => navigation.inward(),
    ArrowLeft: () => navigation.outward(),
    Home: () => navigation.toEnd(false),
    End: () => navigation.toEnd(true),
    Enter: () => navigation.toggle(),
    " ": () => navigation.toggle(),
    "*": () => navigation.openSiblings(),
  };
}

export function handleKey(app: App, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (takesText(event.target) || app.workspace.file.value === null) return;
  // While a unit is on the way there is nothing to go through.
  if (app.workspace.views.value.length === 0 && event.key !== "?") return;
  const target = event.target as HTMLElement;
  const inTree = target === document.body || target.closest("[role=tree]") !== null;
  const action = pageKeys(app)[event.key] ?? (inTree ? treeKeys(app)[event.key] : undefined);
  if (action === undefined) return;
  event.preventDefault();
  action();
}
