import { describe, expect, it } from "vitest";
import { sources } from "../../test_server/cpp_sources";
import { chineseError, KNOWN_ERRORS } from "./chinese_errors";

describe("chineseError", () => {
  it("knows facts, numbers in them, and what the system says", () => {
    expect(chineseError("build or compare again")).toBe("请重新构图或比对");
    expect(chineseError("the file is damaged or cut off at byte 20000")).toBe(
      "文件已损坏或被截断，位于第 20000 字节",
    );
    expect(chineseError("the parameter 'u' must be a number from 0 to 9")).toBe(
      "参数“u”应为 0 到 9 之间的数",
    );
    expect(chineseError("cannot open the file (Permission denied)")).toBe(
      "无法打开文件 (Permission denied)",
    );
  });

  it("knows a fact, advice and path in one line", () => {
    expect(
      chineseError("the file has changed since it was opened; open it again: /tmp/out/a.vis"),
    ).toBe("文件在打开之后发生了变化；请重新打开：/tmp/out/a.vis");
    expect(chineseError("the saved matches cannot be read: out of memory")).toBe(
      "无法读取已保存的手动匹配：内存不足",
    );
  });

  it("leaves alone what it does not know", () => {
    for (const text of ["", "a; b: /c", "check the path; (", "Failed to fetch"]) {
      expect(chineseError(text)).toBe(text);
    }
  });

  it("translates what is said", () => {
    const text = sources(
      ...["viewer", "visfile", "dump", "app", "base", "graph", "server", "formats/json"],
      "../web/src/api",
    );
    const said = (literals: string[]) => literals.every((literal) => text.includes(literal));
    expect(KNOWN_ERRORS.filter((literals) => !said(literals))).toEqual([]);
  });
});
