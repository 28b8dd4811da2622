/** What is there before a file is: the list of files, progress, or why there is nothing to see. */

import { fileName } from "../base/file_name";
import { readableBytes } from "../base/numbers";
import type { App, Failure } from "../state/app";
import { errorText, text } from "../state/language";
import { language } from "../state/preferences";
import { NameText } from "../widgets/name_text";

export function StartPage({ app }: { app: App }) {
  const { workspace, failure } = app;
  if (failure.value !== null) return <FailurePage app={app} failure={failure.value} />;
  if (workspace.name.value !== null) return <LoadingPage app={app} />;
  const files = workspace.files.value;
  if (files === null) return <main class="start" aria-busy="true" />;
  return (
    <main class="start">
      <h2>{text("start.title")}</h2>
      <p class="root">
        <bdi>{files.root}</bdi>
      </p>
      {files.files.length === 0 ? (
        <div class="card">
          <p>{text("start.empty")}</p>
          <pre>msprobe graph -tp target_dump -gp golden_dump -o out{"\n"}msprobe view out</pre>
        </div>
      ) : (
        <FileTable app={app} />
      )}
      {files.notes.map((note) => (
        <p key={note} class="hint">
          {errorText(note)}
        </p>
      ))}
    </main>
  );
}

function FileTable({ app }: { app: App }) {
  const { files = [], root = "" } = app.workspace.files.value ?? {};
  const date = new Intl.DateTimeFormat(language.value === "zh" ? "zh-CN" : "en-GB", {
    dateStyle: "medium",
    timeStyle: "short",
  });
  return (
    <table class="files">
      <thead>
        <tr>
          <th>{text("files.name")}</th>
          <th>{text("files.kind")}</th>
          <th class="numeric">{text("files.size")}</th>
          <th>{text("files.changed")}</th>
        </tr>
      </thead>
      <tbody>
        {files.map((file) => (
          <tr key={file.file}>
            <td>
              <button type="button" class="plain" onClick={() => app.openFile(file.file)}>
                <NameText className="" name={fileName(file.file, root)} />
              </button>
            </td>
            <td>{text(file.type === "" ? `files.${file.kind}` : `files.${file.type}`)}</td>
            <td class="numeric">{file.kind === "dump" ? "" : readableBytes(file.bytes)}</td>
            <td>{date.format(new Date(file.modified * 1000))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function LoadingPage({ app }: { app: App }) {
  const { workspace } = app;
  const loading = workspace.loading.value;
  const share = loading !== null && loading.total > 0 ? loading.done / loading.total : null;
  const percent = share === null ? null : Math.min(100, Math.round(share * 100));
  return (
    <main class="start" aria-busy="true">
      <div class="card">
        <h2>
          <bdi>{workspace.name.value}</bdi>
        </h2>
        {loading !== null && (
          <>
            <p aria-live="polite">
              {text("loading.text", { phase: phaseText(loading.phase) })}
              {percent !== null && ` ${percent} %`}
            </p>
            <progress max={1} {...(share === null ? {} : { value: share })} />
            <p>
              <button
                type="button"
                class="pick"
                onClick={() => {
                  app.workspace.cancel();
                  app.openFile(null);
                }}
              >
                {text("cancel")}
              </button>
            </p>
          </>
        )}
      </div>
    </main>
  );
}

function phaseText(phase: string): string {
  if (phase === "building") return text("loading.building");
  return text(phase === "comparing" ? "loading.comparing" : "loading.reading");
}

function FailurePage({ app, failure }: { app: App; failure: Failure }) {
  return (
    <main class="start">
      <div class="card failure" role="alert">
        <h2>{text("failure.title")}</h2>
        <p>
          <b>
            <bdi>{errorText(failure.fact)}</bdi>
          </b>
        </p>
        {failure.advice !== "" && (
          <p>
            <bdi>{errorText(failure.advice)}</bdi>
          </p>
        )}
        {failure.path !== "" && (
          <p class="root">
            <bdi>{failure.path}</bdi>
          </p>
        )}
        <p class="actions">
          <button type="button" class="main" onClick={() => void app.retry()}>
            {text("failure.retry")}
          </button>
          <button type="button" class="pick" onClick={() => app.openFile(null)}>
            {text("header.all_files")}
          </button>
        </p>
      </div>
    </main>
  );
}
