/** Names come from models and files: always text, isolated from the direction of what is around. */

const SHOWN = 300;
const HOVERED = 2_000;
/** A name that a box may cut keeps so many letters of its end, if it is longer than that. */
const LONG = 24;
const END = 10;

/** Cut in the middle: the end often is what tells long names apart. */
export function shortened(name: string, limit = SHOWN): string {
  if (name.length <= limit) return name;
  const end = Math.floor(limit / 3);
  return `${name.slice(0, limit - end)}…${name.slice(-end)}`;
}

interface Props {
  name: string;
  full?: string;
  shown?: number;
  className: string;
  /** Where there is too little room the style cuts it before its end. */
  keepsEnd?: boolean;
}

export function NameText({ name, full = name, shown = SHOWN, className, keepsEnd = false }: Props) {
  const said = shortened(name, shown);
  const split = keepsEnd && said.length > LONG;
  return (
    <bdi class={split ? `${className} split` : className} title={shortened(full, HOVERED)}>
      {split ? (
        <>
          <span>{said.slice(0, -END)}</span>
          <span>{said.slice(-END)}</span>
        </>
      ) : (
        said
      )}
    </bdi>
  );
}
