import { expect, it } from "vitest";
import { kindOf } from "./node_kind";

it("tells the class or the function and the pass, whatever place and count", () => {
  expect(kindOf("Module.net.fc.Linear.forward.12")).toBe("Linear forward");
  expect(kindOf("Module.net.fc.Linear.backward.0")).toBe("Linear backward");
  expect(kindOf("Module.net.fc.Linear.parameters_grad")).toBe("Linear parameters_grad");
  expect(kindOf("Tensor.mul_.3.forward")).toBe("mul_ forward");
  expect(kindOf("Functional.conv2d.0.backward")).toBe("conv2d backward");
  expect(kindOf("Apis_Between_Modules.0.1")).toBe("Apis_Between_Modules");
});
