import { describe, expect, it } from "vitest";
import { sources } from "../../test_server/cpp_sources";
import { chineseReason, KNOWN_REASONS } from "./chinese_reasons";

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
    expect(
      chineseReason(
        "golden has no such node, and what it made differs from what golden used in its place",
      ),
    ).toBe("标杆侧没有此节点；且其输出与标杆侧使用的数据不一致");
    expect(chineseReason("argument `approximate` is tanh, golden's is none")).toBe(
      "参数 `approximate` 为 tanh，标杆侧为 none",
    );
  });

  it("knows what was compared by less than there is", () => {
    expect(
      chineseReason(
        "the dtype differs; compared only in part: golden recorded no Mean, Norm (input.0)",
      ),
    ).toBe("dtype 不同；仅部分比对：标杆侧没有 Mean, Norm (input.0)");
    expect(
      chineseReason("only statistics are compared: target has no tensor file (output.0)"),
    ).toBe("仅比对统计量：待调试侧没有张量文件 (output.0)");
    expect(chineseReason("not compared: golden has no tensor file")).toBe(
      "未比对：标杆侧没有张量文件",
    );
  });

  it("leaves alone what it does not know", () => {
    for (const text of ["", "target tensor a.npy: gone; really (x)", "(", "a\nb"]) {
      expect(chineseReason(text)).toBe(text);
    }
  });

  it("translates what the comparison says", () => {
    const text = sources("compare", "graph", "viewer");
    // A sentence that others are added to ends with what parts them.
    const said = (reason: string) => text.includes(`"${reason}"`) || text.includes(`"${reason}; "`);
    expect(KNOWN_REASONS.filter((reason) => !said(reason))).toEqual([]);
  });
});
