/** Names come from models and files: always text, isolated from the direction of what is around. */

const SHOWN = 300;
const HOVERED = 2_000;

export function shortened(name: string, limit = SHOWN): string {
  return name.length <= limit ? name : `${name.slice(0, limit)}…`;
}

export function NameText({
  name,
  full = name,
  shown = SHOWN,
  className,
}: {
  name: string;
  full?: string;
  shown?: number;
  className: string;
}) {
  return (
    <bdi class={className} title={shortened(full, HOVERED)}>
      {shortened(name, shown)}
    </bdi>
  );
}
