import { useSignal } from "@preact/signals";
import { copyText } from "../base/clipboard";
import { text } from "../state/language";
import { Icon } from "./icons";

const SHOW_MS = 1_500;

/** Copies a text and says whether that worked. */
export function CopyButton({ content, label }: { content: () => string; label: string }) {
  const result = useSignal<"" | "copied" | "failed">("");
  const copy = async () => {
    result.value = (await copyText(content())) ? "copied" : "failed";
    setTimeout(() => {
      result.value = "";
    }, SHOW_MS);
  };
  const said = result.value === "" ? label : text(`copy.${result.value}`);
  return (
    <button type="button" class="quiet copy" title={said} aria-label={said} onClick={copy}>
      <Icon name="copy" />
      {result.value !== "" && <span class="copied">{said}</span>}
    </button>
  );
}
