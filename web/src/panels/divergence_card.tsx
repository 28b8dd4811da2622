/** The first node whose inputs agree and whose outputs do not: where to look first. */

import type { Divergence, DivergenceReport } from "../api/types";
import { groupDigits } from "../base/numbers";
import type { App } from "../state/app";
import { reasonText, text } from "../state/language";
import { NameText } from "../widgets/name_text";

export function DivergenceCard({ app }: { app: App }) {
  const report = app.suspects.divergence.value;
  if (!app.workspace.comparison.value || report === null) return null;
  const at = app.suspects.culprit.value;
  const culprit = report.culprits[at];
  if (culprit === undefined) return <NoCulprit report={report} app={app} />;
  const more = report.culprits.length > 1;
  const go = (to?: number) => void app.run(() => app.suspects.goToCulprit(to));
  return (
    <section class="divergence">
      <h2>
        {text(at === 0 ? "divergence.first" : "divergence.later")}
        {more && (
          <span class="count">{text("divergence.of", { at: at + 1, total: report.total })}</span>
        )}
      </h2>
      <WhereAndWhy divergence={culprit} />
      {report.victims > 0 && (
        <p>{text("divergence.victims", { count: groupDigits(report.victims) })}</p>
      )}
      <div class="actions">
        <button type="button" class="main" onClick={() => go(at)}>
          {text("divergence.go")}
        </button>
        <kbd>f</kbd>
        {more && (
          <span class="more">
            <button
              type="button"
              class="plain"
              onClick={() => go((at + report.culprits.length - 1) % report.culprits.length)}
            >
              ‹ {text("divergence.previous")}
            </button>
            <button
              type="button"
              class="plain"
              onClick={() => go((at + 1) % report.culprits.length)}
            >
              {text("divergence.next")} ›
            </button>
          </span>
        )}
      </div>
      <Elsewhere app={app} />
    </section>
  );
}

function WhereAndWhy({ divergence: { name, reason, frame } }: { divergence: Divergence }) {
  return (
    <>
      <p class="divergence-name">
        <NameText className="" name={name} />
      </p>
      {reason !== "" && (
        <p>
          <bdi>{reasonText(reason)}</bdi>
        </p>
      )}
      <p class="frame">
        <bdi>{shortFrame(frame)}</bdi>
      </p>
    </>
  );
}

function NoCulprit({ report, app }: { report: DivergenceReport; app: App }) {
  const worst = app.workspace.unit.value?.worst ?? null;
  const bands = app.workspace.bands.value;
  const at = app.workspace.u.value;
  const { undecided, first_difference: first } = report;
  const fine = first === null && (worst === null || worst < (bands.at(-1)?.lo ?? 1));
  // A rank that is fine must not hide that another one is not.
  const elsewhere = (app.workspace.divergent.value ?? at) !== at;
  const found = first === null ? "divergence.not_found" : "divergence.no_culprit";
  return (
    <section class={fine && !elsewhere ? "divergence none" : "divergence"}>
      <h2>{text(first === null ? "divergence.first" : "divergence.first_difference")}</h2>
      {first !== null && <WhereAndWhy divergence={first} />}
      <p>{text(fine ? "divergence.none" : found)}</p>
      {undecided > 0 && <p>{text("divergence.undecided", { count: groupDigits(undecided) })}</p>}
      {first !== null && (
        <div class="actions">
          <button
            type="button"
            class="main"
            onClick={() => void app.run(() => app.suspects.goToCulprit())}
          >
            {text("divergence.go")}
          </button>
          <kbd>f</kbd>
        </div>
      )}
      <Elsewhere app={app} leads={first === null} />
    </section>
  );
}

/** Where the whole run diverges first, if that is in another step or rank than the one shown. */
function Elsewhere({ app, leads = false }: { app: App; leads?: boolean }) {
  const { divergent, divergents, file, u } = app.workspace;
  const units = file.value?.units ?? [];
  const pending = units.filter((unit) => unit.pending === true).length;
  const at = divergent.value;
  const many = divergents.value.length;
  const unit = at === null || at === u.value ? undefined : units[at];
  return (
    <>
      {pending > 0 && <p>{text("divergence.pending", { count: groupDigits(pending) })}</p>}
      {unit !== undefined && (
        <>
          <p>
            {text(many > 1 ? "divergence.elsewhere_many" : "divergence.elsewhere", {
              step: unit.step ?? "–",
              rank: unit.rank ?? "–",
              count: groupDigits(many),
            })}
          </p>
          <div class="actions">
            <button
              type="button"
              class={leads ? "main" : "plain"}
              onClick={() => void app.run(() => app.goToFirst())}
            >
              {text("divergence.go_there")}
            </button>
            {leads && <kbd>f</kbd>}
          </div>
        </>
      )}
    </>
  );
}

/** `attention.py:84 w = softmax(x)` of `File /a/attention.py, line 84, in f, \n w = …`. */
export function shortFrame(frame: string): string {
  const match = /^File (.*), line (\d+), in ([^\n]*?),?\s*(?:\n\s*(.*))?$/s.exec(frame.trim());
  if (match === null) return frame;
  const [, path = "", line = "", , code = ""] = match;
  const file = path.split(/[\\/]/).pop() ?? path;
  return code === "" ? `${file}:${line}` : `${file}:${line}  ${code.trim()}`;
}
