/** The bar on top: which file and unit, search, and how to look at it. */

import { fileName } from "../base/file_name";
import type { Coloring } from "../model/paint";
import type { App } from "../state/app";
import { text } from "../state/language";
import { language, sideOpen, TEXT_SIZES, textSize, themeChoice } from "../state/preferences";
import { Icon } from "../widgets/icons";
import { Picker } from "../widgets/picker";
import { SearchBox } from "./search_box";
import { hasSidePanel } from "./side_panel";

export function AppHeader({ app }: { app: App }) {
  const shown = app.workspace.file.value !== null;
  return (
    <header>
      {shown && hasSidePanel(app) && <SideButton />}
      <h1>msprobe</h1>
      <FilePicker app={app} />
      {shown && <UnitPickers app={app} />}
      {shown && <SearchBox app={app} />}
      <span class="stretch" />
      {shown && <ViewOptions app={app} />}
      <PageOptions app={app} />
    </header>
  );
}

function SideButton() {
  return (
    <button
      type="button"
      class="quiet toggle-side"
      aria-pressed={sideOpen.value}
      title={text("header.side")}
      aria-label={text("header.side")}
      onClick={() => {
        sideOpen.value = !sideOpen.value;
      }}
    >
      <Icon name="panel" />
    </button>
  );
}

function FilePicker({ app }: { app: App }) {
  const { files, name } = app.workspace;
  const list = files.value?.files ?? [];
  const root = files.value?.root ?? "";
  if (list.length < 2 && name.value !== null) {
    return <span class="file-name">{fileName(name.value, root)}</span>;
  }
  if (list.length === 0) return null;
  const unlisted = name.value !== null && !list.some((file) => file.file === name.value);
  return (
    <Picker
      label={text("header.file")}
      className="file"
      value={name.value ?? ""}
      options={[
        { value: "", name: text("header.all_files") },
        ...list.map((file) => ({ value: file.file, name: fileName(file.file, root) })),
        ...(unlisted ? [{ value: name.value ?? "", name: name.value ?? "" }] : []),
      ]}
      change={(value) => app.openFile(value === "" ? null : value)}
    />
  );
}

function UnitPickers({ app }: { app: App }) {
  const { workspace } = app;
  const unit = workspace.unit.value;
  if (unit === null) return null;
  const show = (step: number | null, rank: number | null) =>
    void app.run(() => app.showUnit(workspace.unitAt(step, rank)));
  const options = (values: (number | null)[]) =>
    values.map((value) => ({ value: String(value), name: value === null ? "–" : String(value) }));
  const parse = (value: string) => (value === "null" ? null : Number(value));
  const micro = workspace.micro.value;
  const { value: steps } = workspace.steps;
  const { value: ranks } = workspace.ranks;
  const isNamed = (value: number | null) => value !== null;
  return (
    <>
      {steps.some(isNamed) && (
        <Picker
          label={text("header.step")}
          value={String(unit.step)}
          options={options(steps)}
          change={(value) => show(parse(value), unit.rank)}
        />
      )}
      {ranks.some(isNamed) && (
        <Picker
          label={text("header.rank")}
          value={String(unit.rank)}
          options={options(ranks)}
          change={(value) => show(unit.step, parse(value))}
        />
      )}
      {unit.micro_steps > 1 && (
        <Picker
          label={text("header.micro")}
          value={micro === null ? "" : String(micro)}
          options={[
            { value: "", name: text("header.all") },
            ...options(Array.from({ length: unit.micro_steps }, (_, i) => i)),
          ]}
          change={(value) =>
            void app.run(() => app.showUnit(workspace.u.value, value === "" ? null : Number(value)))
          }
        />
      )}
    </>
  );
}

function ViewOptions({ app }: { app: App }) {
  const { workspace } = app;
  if (!workspace.comparison.value) return null;
  const colorings: Coloring[] = workspace.file.value?.overflow
    ? ["index", "status", "overflow"]
    : ["index", "status"];
  return (
    <>
      <Picker
        label={text("header.colour")}
        value={workspace.coloring.value}
        options={colorings.map((value) => ({ value, name: text(`colour.${value}`) }))}
        change={(value) => app.setColoring(value as Coloring)}
      />
      <button
        type="button"
        class="pick"
        aria-pressed={workspace.linked.value}
        title={text(workspace.linked.value ? "header.linked_on" : "header.linked_off")}
        onClick={() => void app.run(() => app.setLinked(!workspace.linked.value))}
      >
        <Icon name="link" />
        {text("header.linked")}
      </button>
    </>
  );
}

function PageOptions({ app }: { app: App }) {
  const resize = (step: number) => {
    const sizes: readonly number[] = TEXT_SIZES;
    const at = sizes.findIndex((size) => size >= textSize.value);
    textSize.value = sizes[Math.min(Math.max(0, at + step), sizes.length - 1)] ?? 100;
  };
  const themes = { auto: "light", light: "dark", dark: "auto" } as const;
  const signs = { auto: "◐", light: "☀", dark: "☾" } as const;
  return (
    <div class="page-options">
      <SignButton sign="A−" label={text("header.smaller")} press={() => resize(-1)} />
      <SignButton sign="A+" label={text("header.larger")} press={() => resize(1)} />
      <SignButton
        sign={language.value === "en" ? "中文" : "EN"}
        label={text("header.language")}
        press={() => {
          language.value = language.value === "en" ? "zh" : "en";
        }}
      />
      <SignButton
        sign={signs[themeChoice.value]}
        label={text(`theme.${themeChoice.value}`)}
        press={() => {
          themeChoice.value = themes[themeChoice.value];
        }}
      />
      <SignButton
        sign="?"
        label={text("header.help")}
        press={() => {
          app.helpOpen.value = true;
        }}
      />
    </div>
  );
}

function SignButton({ sign, label, press }: { sign: string; label: string; press: () => void }) {
  return (
    <button type="button" class="quiet" title={label} aria-label={label} onClick={press}>
      {sign}
    </button>
  );
}
