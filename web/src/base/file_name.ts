/** What a file is called; the viewed directory itself by its own name. */
export function fileName(file: string, root: string): string {
  return file === "." ? (root.split("/").filter(Boolean).at(-1) ?? file) : file;
}
