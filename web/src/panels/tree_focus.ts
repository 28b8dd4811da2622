/** Where keys go on when what had the focus goes away. */

import type { App } from "../state/app";

/** The tree that the keyboard moves in. */
export function focusTree({ workspace, navigation }: App): boolean {
  const trees = document.querySelectorAll<HTMLElement>("[role=tree]");
  const { value: active } = navigation.active;
  const at = active === null ? 0 : workspace.views.value.indexOf(active);
  const tree = trees[Math.max(0, at)];
  tree?.focus({ preventScroll: true });
  return tree !== undefined;
}

/** After an action that may take its own button away: the tree, once all is drawn. */
export function keepFocus(app: App): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) focusTree(app);
  });
}
