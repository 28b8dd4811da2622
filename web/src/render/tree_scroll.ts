/** Where a tree stands: its scrolling, its size, and going to a row that is wanted. */

import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { remPixels } from "../base/rem";
import { ScrollRange } from "../layout/scroll_range";
import { ROW_UNITS } from "../model/row_tree";
import type { GraphView } from "../state/graph_view";

const SETTLE_MS = 200;
/** Height of a unit relative to the text size; a row is four units. */
const UNIT_PER_REM = 0.545;

export interface Size {
  height: number;
  /** Of a line, and of the space between its halves. */
  width: number;
  gutter: number;
  unit: number;
  rem: number;
}

/** Elements whose sizes count: what scrolls, a probe as wide as the gutter, the lines. */
export interface TreeElements {
  scroller: RefObject<HTMLDivElement | null>;
  probe: RefObject<HTMLDivElement | null>;
  lines: RefObject<HTMLDivElement | null>;
}

export interface TreeScroll {
  /** Pixels of the content above the view. */
  top: Signal<number>;
  /** What to add to a place in the content to get a place in the element. */
  shift: Signal<number>;
  /** Height of the element that makes the scroll bar. */
  height: Signal<number>;
  size: Signal<Size>;
  onScroll: () => void;
}

export function useTreeScroll(view: GraphView, elements: TreeElements): TreeScroll {
  const { scroller } = elements;
  const range = useRef(new ScrollRange()).current;
  const top = useSignal(0);
  const shift = useSignal(0);
  const height = useSignal(0);
  const size = useTreeSize(elements);
  const settle = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const moved = () => {
    top.value = range.top;
    shift.value = range.shift;
    height.value = range.height;
  };
  const drawn = useRef(size.value.unit);
  const resize = () => {
    const { unit: now, height: seen } = size.value;
    const physical = range.resize(view.tree.height * now, seen, now / drawn.current);
    drawn.current = now;
    if (physical !== null) scrollTo(scroller.current, physical, range.height);
    moved();
  };
  const onScroll = () => {
    const element = scroller.current;
    if (element === null) return;
    range.scrolled(element.scrollTop);
    moved();
    clearTimeout(settle.current);
    settle.current = setTimeout(() => {
      const physical = range.settled();
      if (Math.abs(element.scrollTop - physical) >= 1) element.scrollTop = physical;
      moved();
    }, SETTLE_MS);
  };

  useSignalEffect(() => {
    view.version.value;
    size.value;
    resize();
  });
  useSignalEffect(() => {
    const wanted = view.wanted.value;
    const { height: seen, unit } = size.value;
    const element = scroller.current;
    if (wanted === null || seen === 0 || element === null) return;
    view.wanted.value = null;
    // In a small window the tree itself may be out of sight.
    if (wanted.center) element.scrollIntoView({ block: "nearest" });
    resize();
    const to = scrollTarget(wanted, range.top, seen, unit);
    if (to === null) return;
    scrollTo(element, range.goTo(to), range.height);
    moved();
  });
  return { top, shift, height, size, onScroll };
}

/** The spacer must be as tall as the new place needs before the element can go there. */
function scrollTo(element: HTMLElement | null, physical: number, height: number): void {
  const spacer = element?.querySelector<HTMLElement>(".spacer");
  if (element === null || !spacer) return;
  spacer.style.height = `${height}px`;
  element.scrollTop = physical;
}

function useTreeSize({ scroller, probe, lines }: TreeElements): Signal<Size> {
  const size = useSignal<Size>({ height: 0, width: 0, gutter: 0, unit: 7, rem: 13 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || probe.current === null) return;
    const measure = () => {
      const rem = remPixels();
      size.value = {
        height: element.clientHeight,
        width: lines.current?.clientWidth ?? 0,
        gutter: probe.current?.clientWidth ?? 0,
        unit: Math.max(3, Math.round(rem * UNIT_PER_REM)),
        rem,
      };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(probe.current);
    measure();
    return () => observer.disconnect();
  }, [size]);
  return size;
}

/** Where to scroll so that the wanted row is in sight; null if it is. */
function scrollTarget(
  wanted: { offset: number; center: boolean },
  top: number,
  height: number,
  unit: number,
): number | null {
  const begin = wanted.offset * unit;
  const row = ROW_UNITS * unit;
  // The bar that names the boxes around covers the first row.
  const low = top + row;
  const high = top + height - 2 * row;
  if (begin >= low && begin <= high) return null;
  if (wanted.center) return begin - (height - row) / 2.5;
  return begin < low ? begin - row : begin - height + 2 * row;
}
