/** Where in the source the node was called, on both sides. */

import type { Detail } from "../api/types";
import { text } from "../state/language";
import { CopyButton } from "../widgets/copy_button";

export function StackView({ detail }: { detail: Detail }) {
  const { target, golden } = detail.stack;
  if (target.length === 0 && golden.length === 0) {
    return <p class="empty">{text("stack.none")}</p>;
  }
  const same = target.join("\n") === golden.join("\n");
  return (
    <div class="stacks">
      {target.length > 0 && <Stack name={text(same ? "stack.both" : "side.t")} frames={target} />}
      {golden.length > 0 && !same && <Stack name={text("side.g")} frames={golden} />}
    </div>
  );
}

function Stack({ name, frames }: { name: string; frames: string[] }) {
  return (
    <section class="stack">
      <h3>
        {name}
        <CopyButton content={() => frames.join("\n")} label={text("copy.stack")} />
      </h3>
      <ol>
        {frames.map((frame, i) => {
          const [place = "", ...code] = frame.trim().split("\n");
          return (
            <li key={`${i} ${place}`}>
              <bdi class="place">{place.replace(/,\s*$/, "")}</bdi>
              {code.length > 0 && <code>{code.join("\n").trim()}</code>}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
