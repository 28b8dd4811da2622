/** For tests of what is said in sources: those that a translation must keep up with. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The texts of folders of src, one below the other; texts over several lines are joined. */
export function sources(...folders: string[]): string {
  const root = join(__dirname, "../../src");
  return folders
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .filter((path) => /\.(cc|h|ts)$/.test(path) && !/[._]test\.(cc|ts)$/.test(path))
    .map((path) => readFileSync(path, "utf8").replace(/"\s*\n\s*"/g, ""))
    .join("\n");
}
