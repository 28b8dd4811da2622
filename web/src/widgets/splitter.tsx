/** A bar between two parts that can be dragged, and moved by the arrow keys. */

import type { Signal } from "@preact/signals";

interface Props {
  label: string;
  /** Whether the bar stands upright between left and right. */
  upright: boolean;
  size: Signal<number>;
  min: number;
  max: number;
  step: number;
  /** How the size changes when the pointer moves by a pixel. */
  perPixel: () => number;
}

export function Splitter({ label, upright, size, min, max, step, perPixel }: Props) {
  const set = (next: number) => {
    size.value = Math.min(max, Math.max(min, next));
  };
  const drag = (down: PointerEvent) => {
    const bar = down.currentTarget as HTMLElement;
    const from = upright ? down.clientX : down.clientY;
    const scale = perPixel();
    const begin = size.peek();
    bar.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent) => {
      set(begin + ((upright ? event.clientX : event.clientY) - from) * scale);
    };
    bar.addEventListener("pointermove", move);
    bar.addEventListener("lostpointercapture", () => bar.removeEventListener("pointermove", move), {
      once: true,
    });
    down.preventDefault();
  };
  const key = (event: KeyboardEvent) => {
    const sign = Math.sign(perPixel());
    const steps: Record<string, number> = upright
      ? { ArrowLeft: -1, ArrowRight: 1 }
      : { ArrowUp: -1, ArrowDown: 1 };
    const move = steps[event.key];
    if (move === undefined) return;
    set(size.peek() + move * sign * step);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved by the keyboard
    <div
      class={upright ? "splitter upright" : "splitter"}
      role="separator"
      tabIndex={0}
      aria-label={label}
      title={label}
      aria-orientation={upright ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(size.value * 100) / 100}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={drag}
      onKeyDown={key}
    />
  );
}
