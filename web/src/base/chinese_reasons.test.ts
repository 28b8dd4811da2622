import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chineseReason, KNOWN_REASONS } from "./chinese_reasons";

/** The sources of the comparison; texts over several lines are joined. */
function sources(): string {
  const root = join(__dirname, "../../../src");
  return ["compare", "graph", "viewer"]
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .filter((path) => path.endsWith(".cc") && !path.endsWith("_test.cc"))
    .map((path) => readFileSync(path, "utf8").replace(/"\s*\n\s*"/g, ""))
    .join("\n");
}

describe("chineseReason", () => {
  it("knows sentences, places and parts", () => {
    expect(chineseReason("the dtype differs (output.0)")).toBe("dtype 不同 (output.0)");
    expect(chineseReason("its inputs differ already; parameters differ: weight")).toBe(
      "输入已经不一致；参数不一致：weight",
    );
    expect(
      chineseReason("its inputs differ already, and it makes the error more than 10 times larger"),
    ).toBe("输入已经不一致；且将误差放大 10 倍以上");
    expect(
      chineseReason("its inputs agree, its outputs do not; 3 nodes inside have no partner"),
    ).toBe("输入一致，输出不一致；其内部有 3 个节点未匹配");
  });

  it("leaves alone what it does not know", () => {
    for (const text of ["", "target tensor a.npy: gone; really (x)", "(", "a\nb"]) {
      expect(chineseReason(text)).toBe(text);
    }
  });

  it("translates what the comparison says", () => {
    const text = sources();
    // A sentence that others are added to ends with what parts them.
    const said = (reason: string) => text.includes(`"${reason}"`) || text.includes(`"${reason}; "`);
    expect(KNOWN_REASONS.filter((reason) => !said(reason))).toEqual([]);
  });
});
