/** What the keys do, and what the colours mean. */

import { useEffect, useRef } from "preact/hooks";
import type { App } from "../state/app";
import { text } from "../state/language";
import { Icon } from "../widgets/icons";

const KEYS = [
  ["↑ ↓", "help.move"],
  ["→ ←", "help.open"],
  ["Enter", "help.toggle"],
  ["*", "help.siblings"],
  ["PgUp PgDn Home End", "help.far"],
  ["/", "help.search"],
  ["n N", "help.next"],
  ["f", "help.first"],
  ["p", "help.partner"],
  ["c", "help.collapse"],
  ["?", "help.help"],
] as const;

/** Each with what it looks like in the trees. */
const SIGNS = [
  ["help.index", "band-sample"],
  ["help.grey", "box unmatched"],
  ["help.hidden", "box hides"],
  ["help.gap", "gap"],
  ["help.culprit", "culprit"],
] as const;

export function HelpDialog({ app }: { app: App }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = app.helpOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
  }, [open]);
  if (!open) return null;
  const close = () => {
    app.helpOpen.value = false;
  };
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={close}>
      <div class="dialog-head">
        <h2 id="help-title">{text("help.title")}</h2>
        <button
          type="button"
          class="quiet"
          aria-label={text("close")}
          onClick={() => dialog.current?.close()}
        >
          <Icon name="close" />
        </button>
      </div>
      <dl class="keys-list">
        {KEYS.map(([keys, key]) => (
          <>
            <dt key={key}>
              {keys.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{text(key)}</dd>
          </>
        ))}
      </dl>
      <h3>{text("help.signs")}</h3>
      <ul class="signs-list">
        {SIGNS.map(([key, look]) => (
          <li key={key}>
            <i class={look} aria-hidden="true">
              {look === "culprit" && text("role.culprit_short")}
            </i>
            <span>{text(key)}</span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}
