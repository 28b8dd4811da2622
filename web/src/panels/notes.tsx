/** What is not shown as it is in the file: saved pairs that do not apply, or what a report leaves out. */

import type { App } from "../state/app";
import { errorText } from "../state/language";

export function Notes({ app }: { app: App }) {
  const notes = app.workspace.file.value?.notes ?? [];
  if (notes.length === 0) return null;
  return (
    <ul class="notes" role="status">
      {notes.map((note) => (
        <li key={note}>
          <bdi>{errorText(note)}</bdi>
        </li>
      ))}
    </ul>
  );
}
