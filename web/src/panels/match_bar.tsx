/** Pairing unmatched nodes by hand: pick one, pick the other, look at what was paired. */

import { useSignal } from "@preact/signals";
import type { ManualAction, ManualPair } from "../api/types";
import { groupDigits } from "../base/numbers";
import { kindOf } from "../model/node_kind";
import type { App } from "../state/app";
import { text } from "../state/language";
import { Icon } from "../widgets/icons";
import { NameText, shortened } from "../widgets/name_text";
import { keepFocus } from "./tree_focus";

/** Shown in the node panel of a node without a partner. */
export function MatchButton({ app }: { app: App }) {
  const { navigation, matching } = app;
  const selected = navigation.selected.value;
  if (!matching.possible.value || selected === null) return null;
  const partner = selected.side === "t" ? selected.g : selected.t;
  if (partner >= 0 || matching.picked.value !== null) return null;
  return (
    <button
      type="button"
      class="pick"
      onClick={() => {
        matching.pick();
        keepFocus(app);
      }}
    >
      <Icon name="link" />
      {text("match.start")}
    </button>
  );
}

/** Stands above the tree while a pair is made, and while there are pairs. */
export function MatchBar({ app }: { app: App }) {
  const { matching } = app;
  if (matching.picked.value !== null) return <PickSecond app={app} />;
  return matching.pairs.value.length > 0 ? <Pairs app={app} /> : null;
}

function PickSecond({ app }: { app: App }) {
  const { matching } = app;
  const picked = matching.picked.value;
  const candidate = matching.candidate();
  if (picked === null) return null;
  const [first, second] = [kindOf(picked.name), kindOf(candidate?.name ?? picked.name)];
  const unlike = first !== second;
  return (
    <div class="match-bar" role="status">
      <Icon name="link" />
      <span class="match-pair">
        <NameText className="match-name" name={picked.name} />
        <span aria-hidden="true">↔</span>
        {candidate === null ? (
          <span>{text(picked.side === "t" ? "match.pick_golden" : "match.pick_target")}</span>
        ) : (
          <NameText className="match-name" name={candidate.name} />
        )}
      </span>
      {unlike && <span class="hint">{text("match.unlike", { first, second })}</span>}
      <label class="check">
        <input
          type="checkbox"
          checked={matching.withChildren.value}
          onChange={(event) => {
            matching.withChildren.value = event.currentTarget.checked;
          }}
        />
        {text("match.children")}
      </label>
      <button
        type="button"
        class="main"
        disabled={candidate === null || matching.busy.value}
        onClick={() =>
          void app.run(async () => {
            await matching.confirm();
            app.say(text("match.done"));
            keepFocus(app);
          })
        }
      >
        {text("match.confirm")}
      </button>
      <button
        type="button"
        class="plain"
        disabled={matching.busy.value}
        onClick={() => {
          matching.picked.value = null;
          keepFocus(app);
        }}
      >
        {text("cancel")}
      </button>
    </div>
  );
}

function namesOf(what: ManualPair | ManualAction): string {
  const pair = `${isolated(what.target)} ↔ ${isolated(what.golden)}`;
  if (!("count" in what) || what.count < 2) return pair;
  return text("match.and_more", { pair, count: groupDigits(what.count - 1) });
}

/** A name of the dump: it may be long, and turn the direction of what stands beside it. */
function isolated(name: string): string {
  return `\u2068${shortened(name)}\u2069`;
}

function Export({ address, possible }: { address: string; possible: boolean }) {
  if (!possible) return <span class="hint">{text("match.no_export")}</span>;
  return (
    <a class="pick" href={address} download="layer_mapping.yaml">
      {text("match.export")}
    </a>
  );
}

function Pairs({ app }: { app: App }) {
  const open = useSignal(false);
  const { matching, navigation } = app;
  const pairs = matching.pairs.value;
  const address = matching.exportAddress();
  const { value: last } = matching.last;
  const takeBack = (what: ManualPair | ManualAction, action: () => Promise<void>) =>
    void app.run(async () => {
      await action();
      app.say(text("match.undone", { pair: namesOf(what) }));
      keepFocus(app);
    });
  return (
    <div class="match-bar">
      <Icon name="link" />
      <button
        type="button"
        class="plain"
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        {text("match.pairs", { count: groupDigits(matching.total.value) })} {open.value ? "▴" : "▾"}
      </button>
      <span class="stretch" />
      {last !== null && (
        <button
          type="button"
          class="pick"
          title={namesOf(last)}
          disabled={matching.busy.value}
          onClick={() => takeBack(last, () => matching.undo())}
        >
          <Icon name="undo" />
          {text("match.undo")}
        </button>
      )}
      {address !== null && <Export address={address} possible={matching.canExport.value} />}
      {open.value && (
        <ul class="match-list">
          {pairs.map((pair) => (
            <li key={`${pair.t} ${pair.g}`}>
              <button
                type="button"
                class="plain"
                onClick={() => void app.run(() => navigation.go({ side: "t", id: pair.t }))}
              >
                <NameText className="" name={pair.target} />
              </button>
              <span aria-hidden="true">↔</span>
              <NameText className="match-name" name={pair.golden} />
              <button
                type="button"
                class="quiet"
                title={text("match.remove")}
                aria-label={text("match.remove")}
                disabled={matching.busy.value}
                onClick={() => takeBack(pair, () => matching.remove(pair))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
          {pairs.length < matching.total.value && (
            <li>
              <button
                type="button"
                class="pick"
                onClick={() => void app.run(() => matching.more())}
              >
                {text("match.more")}
              </button>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
