/** Search over the names of both sides, with hits as one types. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Item } from "../api/types";
import { groupDigits } from "../base/numbers";
import { type App, sentence } from "../state/app";
import { text } from "../state/language";
import type { PagedList } from "../state/paged_list";
import { Icon } from "../widgets/icons";
import { ItemList } from "./item_list";
import { focusTree } from "./tree_focus";

export function SearchBox({ app }: { app: App }) {
  const { search } = app;
  const open = useSignal(false);
  const active = useSignal(-1);
  const box = useRef<HTMLDivElement>(null);
  const hits = search.shown.value;
  const total = hits?.total.value ?? null;

  useSignalEffect(() => {
    search.query.value;
    active.value = -1;
  });
  useEffect(() => {
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) open.value = false;
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);

  const choose = (item: Item) => {
    open.value = false;
    focusTree(app);
    void app.run(() => app.navigation.go({ side: item.side, id: item.id }));
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      // The browser would empty the field, but not the query.
      event.preventDefault();
      if (!open.value) search.type("");
      open.value = false;
      if (!focusTree(app)) (event.currentTarget as HTMLElement).blur();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      active.value = Math.min(Math.max(0, active.value + step), Math.max(0, (total ?? 0) - 1));
      open.value = true;
      event.preventDefault();
    } else if (event.key === "Enter") {
      const item = hits?.item(active.value);
      if (item !== undefined) choose(item);
      else if (active.value < 0) void search.first().then((first) => first && choose(first));
    }
  };
  const shown = open.value && hits !== null;
  return (
    <div class="search" ref={box}>
      <Icon name="search" />
      <input
        id="search"
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: a search field is a combobox only by this
        role="combobox"
        list={undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={text(
          app.workspace.comparison.value ? "search.placeholder" : "search.placeholder_single",
        )}
        aria-label={text("search.label")}
        aria-expanded={shown}
        aria-controls="hits"
        aria-activedescendant={active.value >= 0 ? `hits-${active.value}` : undefined}
        value={search.query.value}
        onInput={(event) => {
          search.type(event.currentTarget.value);
          open.value = true;
        }}
        onFocus={() => {
          open.value = true;
        }}
        onKeyDown={key}
      />
      <kbd>/</kbd>
      {shown && <Hits {...{ app, hits, choose }} active={active.value} />}
    </div>
  );
}

interface HitsProps {
  app: App;
  hits: PagedList;
  active: number;
  choose: (item: Item) => void;
}

function Hits({ app, hits, active, choose }: HitsProps) {
  const { search } = app;
  const total = hits.total.value;
  const error = hits.error.value;
  let told = error === null ? text("search.running") : sentence(error);
  if (total !== null) told = text("search.count", { count: groupDigits(total) });
  return (
    <div class="hits" aria-busy={hits !== search.hits.value}>
      <p class="hits-count" aria-live="polite">
        {told}
        <span class="hint">{text("search.hint")}</span>
      </p>
      {total === 0 && (
        <p class="hits-none">
          <bdi>{text("search.none", { query: search.query.value.trim().slice(0, 100) })}</bdi>
        </p>
      )}
      {(total ?? 0) > 0 && (
        <ItemList
          {...{ app, choose, list: hits, id: "hits", active }}
          label={text("search.label")}
          sides={app.workspace.comparison.value}
        />
      )}
    </div>
  );
}
