/** Small pictures, drawn in the colour of the text around them. */

const paths = {
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  close: "M3.5 3.5l9 9m0-9-9 9",
  link: "M6.5 9.5l3-3M7 4.5l1.6-1.6a2.7 2.7 0 0 1 4 4L11 8.500M9 11.500l-1.600 1.600a2.700 2.700 0 0 1-4-4L5 7.500",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.700 10.700 14 14",
  up: "M4 10l4-4 4 4",
  down: "M4 6l4 4 4-4",
  panel: "M2.5 3.500h11v9h-11zM6.500 3.500v9",
  undo: "M3 6.500h6.500a3.200 3.200 0 0 1 0 6.500H6M3 6.500 6 3.500M3 6.500l3 3",
  collapse: "M4 6.500 8 2.500l4 4M4 9.500l4 4 4-4",
} as const;

export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
