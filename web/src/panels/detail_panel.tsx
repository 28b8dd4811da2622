/** The node panel: what both sides recorded of the selected node. */

import { useSignal } from "@preact/signals";
import type { Detail } from "../api/types";
import { copyText } from "../base/clipboard";
import { readableIndex } from "../base/numbers";
import { type App, sentence } from "../state/app";
import { reasonText, text } from "../state/language";
import { CopyButton } from "../widgets/copy_button";
import { NameText } from "../widgets/name_text";
import { MatchButton } from "./match_bar";
import { StackView } from "./stack_view";
import { tableText, ValueTable } from "./value_table";

/** A title of three lines; the end of a longer name is not cut off. */
const TITLE_LETTERS = 150;

type Tab = "values" | "stack" | "facts" | "peers";

export function DetailPanel({ app }: { app: App }) {
  const tab = useSignal<Tab>("values");
  const { selected, detail, detailError } = app.navigation;
  if (selected.value === null) {
    return (
      <section class="detail" aria-label={text("detail.label")}>
        <div class="empty">
          <p>{text("detail.nothing")}</p>
          <KeyHints app={app} />
        </div>
      </section>
    );
  }
  if (detailError.value !== null) {
    return (
      <section class="detail" aria-label={text("detail.label")}>
        <p class="empty">
          <bdi>{sentence(detailError.value)}</bdi>
        </p>
      </section>
    );
  }
  const shown = detail.value;
  if (shown === null) return <section class="detail" aria-label={text("detail.label")} />;
  const tabs: Tab[] = ["values", "stack", "facts"];
  if (shown.peers.length > 0) tabs.push("peers");
  const current = tabs.includes(tab.value) ? tab.value : "values";
  // Values of another node than the selected one must not look like its own.
  const old = shown.node.id !== selected.value.id || shown.node.side !== selected.value.side;
  return (
    <section
      class={old ? "detail old" : "detail"}
      aria-label={text("detail.label")}
      aria-busy={old}
    >
      <div class="detail-head">
        <div class="tabs" role="tablist" onKeyDown={(event) => nextTab(event)}>
          {tabs.map((name) => (
            <button
              type="button"
              role="tab"
              key={name}
              id={`tab-${name}`}
              aria-selected={name === current}
              tabIndex={name === current ? 0 : -1}
              aria-controls="tab-content"
              onClick={() => {
                tab.value = name;
              }}
            >
              {text(`detail.${name}`)}
            </button>
          ))}
        </div>
        <Breadcrumb app={app} detail={shown} />
        <CopyButton content={() => tableText(shown)} label={text("copy.table")} />
      </div>
      <NodeLine app={app} detail={shown} />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a shortcut for the pointer; hover shows the same */}
      <div
        class="tab-content"
        id="tab-content"
        role="tabpanel"
        aria-labelledby={`tab-${current}`}
        onClick={(event) => copyCell(app, event)}
        onScroll={({ currentTarget: { classList, scrollLeft } }) => {
          classList.toggle("aside", scrollLeft > 0);
        }}
      >
        {current === "values" && <ValueTable detail={shown} />}
        {current === "stack" && <StackView detail={shown} />}
        {current === "facts" && <Facts detail={shown} />}
        {current === "peers" && <Peers app={app} detail={shown} />}
      </div>
    </section>
  );
}

/** The arrow keys go from tab to tab. */
function nextTab(event: KeyboardEvent): void {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step === undefined) return;
  const tabs = [
    ...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]"),
  ];
  const tab = tabs.at((tabs.indexOf(event.target as HTMLElement) + step) % tabs.length);
  tab?.focus();
  tab?.click();
  event.preventDefault();
}

/** The keys that lead somewhere, for who has just come. */
function KeyHints({ app }: { app: App }) {
  const comparison = app.workspace.comparison.value;
  const listed = app.suspects.list.value !== null;
  const keys = [
    ...(comparison ? ([["f", "detail.keys_first"]] as const) : []),
    ...(listed ? ([["n", "detail.keys_next"]] as const) : []),
    ...([
      ["/", "detail.keys_search"],
      ["?", "detail.keys_help"],
    ] as const),
  ] as const;
  return (
    <ul class="key-hints">
      {keys.map(([key, name]) => (
        <li key={key}>
          <kbd>{key}</kbd> {text(name)}
        </li>
      ))}
    </ul>
  );
}

/** A click on a number copies all its digits. */
function copyCell(app: App, event: MouseEvent): void {
  const cell = (event.target as HTMLElement).closest<HTMLElement>("[data-copy]");
  const content = cell?.dataset.copy;
  if (content === undefined || String(getSelection()) !== "") return;
  void copyText(content).then((copied) =>
    app.say(text(copied ? "copy.copied_value" : "copy.failed", { value: content.slice(0, 80) })),
  );
}

function Breadcrumb({ app, detail }: { app: App; detail: Detail }) {
  const { side } = detail.node;
  return (
    <nav class="breadcrumb" aria-label={text("detail.path")}>
      {detail.path.map((step, i) => (
        <>
          {i > 0 && <span aria-hidden="true">›</span>}
          {i === 0 || i === detail.path.length - 1 ? (
            <NameText className="step" name={step.label} />
          ) : (
            <button
              type="button"
              class="plain step"
              key={step.id}
              onClick={() => void app.run(() => app.navigation.go({ side, id: step.id }))}
            >
              <NameText className="" name={step.label} />
            </button>
          )}
        </>
      ))}
    </nav>
  );
}

function NodeLine({ app, detail }: { app: App; detail: Detail }) {
  const { node, partner, reason } = detail;
  const status = node.status;
  return (
    <div class="node-line">
      <NameText className="node-name" name={node.name} shown={TITLE_LETTERS} />
      <CopyButton content={() => node.name} label={text("copy.name")} />
      {node.index !== null && (
        <span class="fact" title={String(node.index)}>
          {text("detail.index", { index: readableIndex(node.index) })}
        </span>
      )}
      {status !== "" && (
        <span
          class="status"
          style={{ "--fill": `var(--fill-${status})`, "--edge": `var(--edge-${status})` }}
        >
          {text(`status.${status}`)}
        </span>
      )}
      {node.role !== "" && (
        <span class={node.role === "culprit" ? "culprit" : "fact"}>
          {text(`role.${node.role}`)}
        </span>
      )}
      {node.overflow !== "" && <span class="overflow">{text(`overflow.${node.overflow}`)}</span>}
      {partner !== null && (
        <button
          type="button"
          class="plain"
          title={partner.name.slice(0, 2000)}
          onClick={() =>
            void app.run(() =>
              app.navigation.go({ side: node.side === "t" ? "g" : "t", id: partner.id }),
            )
          }
        >
          {text(node.side === "t" ? "detail.to_golden" : "detail.to_target")}
        </button>
      )}
      <MatchButton app={app} />
      {reason !== "" && <bdi class="reason">{reasonText(reason)}</bdi>}
    </div>
  );
}

function Facts({ detail }: { detail: Detail }) {
  const { node, partner } = detail;
  const facts: [string, string][] = [
    [text(`side.${node.side}`), node.name],
    [text(node.side === "t" ? "side.g" : "side.t"), partner?.name ?? text("row.no_partner")],
    [text("facts.class"), detail.cls],
    [text("facts.direction"), directionText(detail.dir)],
    [text("facts.kind"), text(`kind.${node.kind}`)],
    [text("header.micro"), String(detail.micro)],
    [text("facts.index"), node.index === null ? "" : String(node.index)],
    [text("facts.worst"), node.worst === null ? "" : String(node.worst)],
    [text("facts.reason"), reasonText(detail.reason)],
  ];
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== "")
        .map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd>
              <bdi data-copy={value}>{value}</bdi>
            </dd>
          </>
        ))}
    </dl>
  );
}

function directionText(dir: Detail["dir"]): string {
  if (dir === "") return "";
  return text(dir === "f" ? "row.forward_long" : "row.backward_long");
}

function Peers({ app, detail }: { app: App; detail: Detail }) {
  const go = (u: number, name: string) =>
    void app.run(async () => {
      if (!(await app.showUnit(u))) return;
      await app.navigation.go({ side: detail.node.side, name });
    });
  return (
    <table class="peers">
      <thead>
        <tr>
          <th>{text("header.rank")}</th>
          <th>{text("facts.name")}</th>
        </tr>
      </thead>
      <tbody>
        {detail.peers.map((peer) => (
          <tr key={`${peer.rank} ${peer.name}`}>
            <td>{peer.rank}</td>
            <td>
              {peer.u >= 0 ? (
                <button type="button" class="plain" onClick={() => go(peer.u, peer.name)}>
                  <NameText className="" name={peer.name} />
                </button>
              ) : (
                <NameText className="" name={peer.name} />
              )}
              {peer.u < 0 && <span class="hint"> {text("peers.no_unit")}</span>}
              {peer.u === app.workspace.u.value && <span class="hint"> {text("peers.here")}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
