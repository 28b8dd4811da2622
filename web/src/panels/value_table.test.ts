// @vitest-environment happy-dom
import { expect, it } from "vitest";
import type { RecordedValue } from "../api/types";
import { metricNames } from "./value_table";

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
