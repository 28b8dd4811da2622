/** A long list of nodes of which only the items in sight exist and are loaded. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Item } from "../api/types";
import { readableIndex } from "../base/numbers";
import { ScrollRange } from "../layout/scroll_range";
import { paintOf } from "../model/paint";
import type { App } from "../state/app";
import { text } from "../state/language";
import type { PagedList } from "../state/paged_list";
import { NameText } from "../widgets/name_text";

const ITEM_PER_REM = 1.85;
const MARGIN = 6;

interface Props {
  app: App;
  list: PagedList;
  label: string;
  id: string;
  /** The place that the keyboard is on, -1: none; without it the list handles the keyboard itself. */
  active?: number;
  /** Whether to say of which side an item is. */
  sides?: boolean;
  choose: (item: Item) => void;
}

export function ItemList({ app, list, label, id, active: given, sides = false, choose }: Props) {
  const own = useSignal(-1);
  const active = given ?? own.value;
  const scroller = useRef<HTMLDivElement>(null);
  const range = useRef(new ScrollRange()).current;
  const place = useSignal({ top: 0, shift: 0, height: 0, item: 24 });
  const total = list.total.value ?? 0;
  list.version.value;

  const measure = () => {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const item = Math.round(rem * ITEM_PER_REM);
    const height = scroller.current?.clientHeight ?? 0;
    range.resize((list.total.value ?? 0) * item, height);
    place.value = { top: range.top, shift: range.shift, height, item };
  };
  // The observer outlives a drawing, and the list of a drawing may be another one.
  const measuring = useRef(measure);
  measuring.current = measure;
  // Before the first frame: an empty list would be drawn, and filled one frame later.
  useLayoutEffect(() => {
    if (scroller.current === null) return;
    measuring.current();
    const observer = new ResizeObserver(() => measuring.current());
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);
  useSignalEffect(() => {
    list.total.value;
    measure();
  });
  useEffect(() => {
    const element = scroller.current;
    const { item, height } = place.value;
    if (active < 0 || element === null || height === 0) return;
    const begin = active * item;
    if (begin >= range.top && begin + item <= range.top + height) return;
    element.scrollTop = range.goTo(begin < range.top ? begin : begin + item - height);
  }, [active]);
  const onScroll = () => {
    range.scrolled(scroller.current?.scrollTop ?? 0);
    place.value = { ...place.value, top: range.top, shift: range.shift };
  };

  useEffect(() => {
    own.value = -1;
  }, [list]);
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(place.value.height / place.value.item) - 1);
    const steps: Record<string, number> = {
      ...{ ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total },
    };
    const step = steps[event.key];
    const chosen = list.item(active);
    if (step !== undefined && total > 0) {
      own.value = Math.min(Math.max(0, active + step), total - 1);
    } else if ((event.key === "Enter" || event.key === " ") && chosen !== undefined) {
      choose(chosen);
    } else return;
    event.preventDefault();
  };

  const { top, shift, height, item } = place.value;
  const begin = Math.max(0, Math.floor(top / item) - MARGIN);
  const end = Math.min(total, Math.ceil((top + height) / item) + MARGIN);
  list.need(begin, end);
  const rows = Array.from({ length: Math.max(0, end - begin) }, (_, i) => begin + i);
  return (
    <div
      class="items"
      role="listbox"
      aria-label={label}
      id={id}
      ref={scroller}
      onScroll={onScroll}
      {...(given === undefined
        ? {
            tabIndex: 0,
            onKeyDown,
            "aria-activedescendant": active < 0 ? undefined : `${id}-${active}`,
          }
        : { tabIndex: -1 })}
    >
      <div class="spacer" style={{ height: `${range.height}px`, "--item": `${item}px` }}>
        <div class="lines" style={{ transform: `translateY(${begin * item + shift}px)` }}>
          {rows.map((at) => (
            <ItemRow
              key={at}
              {...{ app, choose, at, total, sides }}
              item={list.item(at)}
              id={`${id}-${at}`}
              active={at === active}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  app: App;
  item: Item | undefined;
  id: string;
  at: number;
  total: number;
  active: boolean;
  sides: boolean;
  choose: (item: Item) => void;
}

function ItemRow({ app, item, id, at, total, active, sides, choose }: RowProps) {
  if (item === undefined) return <div class="item waiting" />;
  const selected = app.navigation.selected.value;
  const here = selected !== null && selected[item.side] === item.id;
  const paint = paintOf(app.workspace.coloring.value, app.workspace.bands.value, item);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the box around the list handles the keyboard
    // biome-ignore lint/a11y/useFocusableInteractive: the box around the list has the focus
    <div
      class={`item${here ? " here" : ""}${active ? " active" : ""}`}
      id={id}
      role="option"
      aria-selected={here}
      aria-setsize={total}
      aria-posinset={at + 1}
      onClick={() => choose(item)}
    >
      <i
        class="dot"
        style={{ "--fill": `var(--fill-${paint})`, "--edge": `var(--edge-${paint})` }}
      />
      <NameText className="item-label" name={item.label} full={item.name} />
      {item.role === "culprit" ? (
        <span class="culprit" title={text("role.culprit")}>
          {text("role.culprit_short")}
        </span>
      ) : (
        <NameText className="item-name" name={item.name} />
      )}
      {sides && <span class="side-mark">{text(`side.${item.side}`)}</span>}
      {item.index !== null && <span class="item-index">{readableIndex(item.index)}</span>}
    </div>
  );
}
