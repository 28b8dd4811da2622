// @vitest-environment happy-dom
import { expect, it } from "vitest";
import type { RecordedValue } from "../api/types";
import { isScalar, metricNames, shortDtype } from "./value_table";

const value = (metrics: Record<string, string>): RecordedValue => ({
  ...{ key: "input.0", section: "input", target: null, golden: null, metrics },
  ...{ status: "", reason: "" },
});

it("puts relative errors before the differences they are of", () => {
  const first = value({ "Max diff": "1", "L2norm diff": "2", MaxRelativeErr: "1%" });
  expect(metricNames([first, value({ Cosine: "1" })])).toEqual([
    ...["MaxRelativeErr", "Cosine", "Max diff", "L2norm diff"],
  ]);
});

it("tells a scalar once, as files of msprobe graph and of others have it", () => {
  const four = { Max: "2.0", Min: "2.0", Mean: "2.0", Norm: "2.0" };
  expect(isScalar({ type: "float", value: "2.0", ...four, shape: "[]" })).toBe(true);
  expect(isScalar({ type: "str", value: "mean" })).toBe(true);
  expect(isScalar({ type: "torch.Tensor", ...four })).toBe(false);
  expect(isScalar({ value: "2.0", ...four, Norm: "3.0" })).toBe(false);
});

it("names types without what is the same in all rows", () => {
  const names = ["torch.float16", "<class float>", "<class 'int'>", "Float32", "<class"];
  expect(names.map(shortDtype)).toEqual(["float16", "float", "int", "Float32", "<class"]);
});
