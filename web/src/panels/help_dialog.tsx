/** What the keys do, and what the colours mean. */

import { useEffect, useRef } from "preact/hooks";
import type { App } from "../state/app";
import { text } from "../state/language";
import { Icon } from "../widgets/icons";

const KEYS = [
  ["↑ ↓", "help.move"],
  ["→ ←", "help.open"],
  ["Enter Space", "help.toggle"],
  ["*", "help.siblings"],
  ["PgUp PgDn Home End", "help.far"],
  ["/", "help.search"],
  ["n N", "help.next"],
  ["f", "help.first"],
  ["p", "help.partner"],
  ["c", "help.collapse"],
  ["Esc", "help.escape"],
  ["?", "help.help"],
] as const;

/** What only a comparison has, and what needs a list of nodes. */
const OF_COMPARISON = new Set<string>(["help.first", "help.partner", "help.escape"]);
const OF_LIST = new Set<string>(["help.next"]);

/** Each with what it looks like in the trees. */
const SIGNS = [
  ["help.index", "band-sample"],
  ["help.grey", "box unmatched"],
  ["help.hidden", "box hides"],
  ["help.gap", "gap"],
  ["help.culprit", "culprit", "role.culprit_short"],
  ["help.elsewhere", "", "row.elsewhere"],
  ["help.backward", "dir", "row.backward"],
  ["help.overflow", "overflow", "row.overflow"],
] as const;

/** Those that a graph without another side has, too. */
const OF_ANY = new Set<string>(["help.hidden", "help.backward", "help.overflow"]);

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
        {keysOf(app).map(([keys, key]) => (
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
        {signsOf(app).map(([key, look, word]) => (
          <li key={key}>
            <i class={look} aria-hidden="true">
              {word !== undefined && text(word)}
            </i>
            <span>{text(key)}</span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}

function isAlone({ workspace }: App): boolean {
  return workspace.file.value !== null && !workspace.comparison.value;
}

/** Those that do something in the file that is shown. */
function keysOf(app: App) {
  if (!isAlone(app)) return KEYS;
  const listed = app.suspects.list.value !== null;
  return KEYS.filter(([, key]) => !OF_COMPARISON.has(key) && (listed || !OF_LIST.has(key)));
}

function signsOf(app: App) {
  return isAlone(app) ? SIGNS.filter(([key]) => OF_ANY.has(key)) : SIGNS;
}
