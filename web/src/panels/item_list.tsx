/** A long list of nodes of which only the items in sight exist and are loaded. */

import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Item } from "../api/types";
import { readableIndex } from "../base/numbers";
import { remPixels } from "../base/rem";
import { ScrollRange } from "../layout/scroll_range";
import { paintOf } from "../model/paint";
import type { App } from "../state/app";
import { text } from "../state/language";
import type { PagedList } from "../state/paged_list";
import { textSize } from "../state/preferences";
import { NameText } from "../widgets/name_text";

const ITEM_PER_REM = 1.85;
const MARGIN = 6;
/** A path is cut by the panel long before that; text that nobody sees costs time in every frame. */
const SHOWN_LETTERS = 160;

interface ListSize {
  height: number;
  item: number;
}

/** How large lists were, by their ids: the next one is drawn at once as it will stand. */
const lastSizes = new Map<string, ListSize>();

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
  const total = list.total.value ?? 0;
  const own = useSignal(-1);
  const active = given ?? own.value;
  const { scroller, range, size, onScroll } = useListScroll(list, id, active);
  /** Keys go on from what was clicked. */
  const clicked = useRef(-1);
  useEffect(() => {
    own.value = -1;
    clicked.current = -1;
  }, [list]);
  const take = (item: Item, at: number) => {
    own.value = -1;
    clicked.current = at;
    choose(item);
  };
  const { height, item } = size;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = stepOf(event.key, Math.max(1, Math.floor(height / item) - 1), total);
    const from = Math.max(active, clicked.current);
    const chosen = list.item(active);
    if (step !== undefined && total > 0) {
      own.value = Math.min(Math.max(0, from + step), total - 1);
      clicked.current = -1;
    } else if ((event.key === "Enter" || event.key === " ") && chosen !== undefined) {
      choose(chosen);
    } else return;
    event.preventDefault();
  };

  const begin = Math.max(0, Math.floor(range.top / item) - MARGIN);
  const end = Math.min(total, Math.ceil((range.top + height) / item) + MARGIN);
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
        <div class="lines" style={{ transform: `translateY(${begin * item + range.shift}px)` }}>
          {rows.map((at) => (
            <ItemRow
              key={at}
              {...{ app, take, at, total, sides }}
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

/** Where the list stands; the active item is brought into sight. */
function useListScroll(list: PagedList, id: string, active: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const range = useRef(new ScrollRange()).current;
  const size = useListSize(id, scroller);
  const scrolled = useSignal(0);
  scrolled.value;
  list.version.value;
  const { height, item } = size.value;
  range.resize((list.total.value ?? 0) * item, height);

  const go = (top: number) => {
    const element = scroller.current;
    if (element === null) return;
    element.scrollTop = range.goTo(top);
    scrolled.value += 1;
  };
  // Another list begins at its top.
  useLayoutEffect(() => {
    if (range.top > 0) go(0);
  }, [list]);
  useEffect(() => {
    if (active < 0 || height === 0) return;
    const begin = active * item;
    if (begin >= range.top && begin + item <= range.top + height) return;
    go(begin < range.top ? begin : begin + item - height);
  }, [active]);
  const onScroll = () => {
    range.scrolled(scroller.current?.scrollTop ?? 0);
    scrolled.value += 1;
  };
  return { scroller, range, size: size.value, onScroll };
}

/** Heights of the list and of an item in it, in pixels. */
function useListSize(id: string, scroller: RefObject<HTMLDivElement | null>): Signal<ListSize> {
  const size = useSignal<ListSize>(lastSizes.get(id) ?? { height: 0, item: 24 });
  // Before the first frame: an empty list would be drawn, and filled one frame later.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => {
      const rem = remPixels();
      const found = { height: element.clientHeight, item: Math.round(rem * ITEM_PER_REM) };
      const known = size.peek();
      if (found.height === known.height && found.item === known.item) return;
      lastSizes.set(id, found);
      size.value = found;
    };
    // Asking for a size makes the browser lay all out at once; the observer tells it for nothing.
    if (size.peek().height === 0) measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [id, size, textSize.value]);
  return size;
}

/** How many items a key moves on, undefined: it is not for moving. */
function stepOf(key: string, page: number, total: number): number | undefined {
  const steps: Record<string, number> = {
    ...{ ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total },
  };
  return steps[key];
}

interface RowProps {
  app: App;
  item: Item | undefined;
  id: string;
  at: number;
  total: number;
  active: boolean;
  sides: boolean;
  take: (item: Item, at: number) => void;
}

function ItemRow({ app, item, id, at, total, active, sides, take }: RowProps) {
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
      onClick={() => take(item, at)}
    >
      <i
        class="dot"
        style={{ "--fill": `var(--fill-${paint})`, "--edge": `var(--edge-${paint})` }}
      />
      <NameText
        className="item-label"
        name={item.label}
        full={item.name}
        shown={SHOWN_LETTERS}
        keepsEnd
      />
      {item.role === "culprit" ? (
        <span class="culprit" title={text("role.culprit")}>
          {text("role.culprit_short")}
        </span>
      ) : (
        <NameText className="item-name" name={item.name} shown={SHOWN_LETTERS} />
      )}
      {sides && <span class="side-mark">{text(`side.${item.side}`)}</span>}
      {item.index !== null && <span class="item-index">{readableIndex(item.index)}</span>}
    </div>
  );
}
