/** The title of the page: tabs and bookmarks of several files can be told apart. */

import { fileName } from "../base/file_name";
import { text } from "./language";
import type { Workspace } from "./workspace";

export function pageTitle({ name, files, unit }: Workspace): string {
  if (name.value === null) return "msprobe";
  const { step = null, rank = null } = unit.value ?? {};
  const place = [
    ...(step === null ? [] : [`${text("header.step")} ${step}`]),
    ...(rank === null ? [] : [`${text("header.rank")} ${rank}`]),
  ];
  const file = fileName(name.value, files.value?.root ?? "");
  return [file, place.join(" "), "msprobe"].filter((part) => part !== "").join(" · ");
}
